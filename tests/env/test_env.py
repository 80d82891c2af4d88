"""Environments keep Gymnasium's rules; copies do what one robot does; episodes end and begin as they should."""

import time
import warnings

import numpy as np
import pytest

import anguilla as ag

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

from anguilla import env  # noqa: E402
from anguilla.env import touching  # noqa: E402
from anguilla.env.tasks import tendon_arm  # noqa: E402


@pytest.fixture(scope="module")
def reach():
    return env.Reach(horizon=6)


@pytest.mark.parametrize("name", ["Reach", "Track", "Swim", "Grasp", "Crawl"])
def test_one_robot_passes_the_checker(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of boxes without bounds
        made = gymnasium.make(f"anguilla/{name}-v0", render_mode="rgb_array")
        check_env(made.unwrapped)
    made.close()


@pytest.mark.parametrize(
    "name", ["Swim", *(pytest.param(name, marks=pytest.mark.slow) for name in ("Reach", "Track", "Grasp", "Crawl"))]
)
def test_make_vec_keeps_the_interface_of_vectors(name):
    """Native vectors of all tasks: spaces, shapes, kinds of numbers, the same again from a seed, wrappers around them."""
    from gymnasium.wrappers import vector as around

    two = [gymnasium.make_vec(f"anguilla/{name}-v0", num_envs=3) for _ in range(2)]
    assert all(isinstance(robots.unwrapped, env.RobotVectorEnv) for robots in two)
    first, again = (robots.reset(seed=5)[0] for robots in two)
    assert np.array_equal(first, again) and first in two[0].observation_space
    two[0].action_space.seed(1)
    for _ in range(4):
        action = two[0].action_space.sample()
        one, other = (robots.step(action) for robots in two)
        assert all(np.array_equal(a, b) for a, b in zip(one[:4], other[:4], strict=True))
        assert one[0] in two[0].observation_space and all(x.shape == (3,) for x in one[1:4])
        assert one[2].dtype == one[3].dtype == bool
    wrapped = around.RecordEpisodeStatistics(around.NormalizeObservation(two[1]))
    wrapped.reset(seed=1)
    assert wrapped.step(action)[0].shape == first.shape


def test_a_vector_keeps_the_rules(reach):
    robots = env.RobotVectorEnv(reach, 5)
    assert robots.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    seen, info = robots.reset(seed=3)
    assert seen in robots.observation_space and info == {}
    again, _ = env.RobotVectorEnv(reach, 5).reset(seed=3)
    assert np.array_equal(seen, again)
    robots.action_space.seed(0)
    for k in range(1, 15):
        seen, reward, terminated, truncated, info = robots.step(robots.action_space.sample())
        assert seen in robots.observation_space and reward.shape == (5,) and not terminated.any()
        assert truncated.all() == (k % 7 == 6) and info["distance"].shape == (5,)
        if k % 7 == 0:  # the step behind the end begins anew
            assert np.all(reward == 0.0) and np.allclose(seen[:, 12:], -1.0)


def test_copies_do_what_one_robot_does(reach):
    rng = np.random.default_rng(1)
    actions = rng.uniform(-1, 1, (5, 3, 6))
    many, one = env.RobotVectorEnv(reach, 3), env.RobotEnv(reach)
    many.reset(seed=0)
    one.reset(seed=0)
    for row in actions:
        seen, *_ = many.step(row)
        alone, *_ = one.step(row[1])
    assert np.allclose(seen[1, :6], alone[:6], rtol=0, atol=1e-6)  # goals differ
    stepper = ag.Stepper(reach.robot, dt=reach.dt, start=reach.start)
    inputs = np.zeros(6)
    for row in actions:
        inputs = np.clip(inputs + reach.period * 15.0 * row[1], 0.0, 15.0)
        stepper.step(reach.substeps, dict(zip(reach.names, inputs, strict=True)))
    assert np.allclose(seen[1, :3] * reach.length, stepper.read("tip"), rtol=0, atol=1e-6)


def test_an_episode_that_ends_may_begin_anew_in_the_same_step(reach):
    robots = env.RobotVectorEnv(reach, 2, same_step=True)
    first, _ = robots.reset(seed=5)
    for _ in range(6):
        seen, _, _, truncated, info = robots.step(np.ones((2, 6)) * [1, 0, 0, 0, 0, 0])
    assert truncated.all() and info["_final_obs"].all()
    assert np.allclose(seen[:, :6], first[:, :6]) and not np.allclose(info["final_obs"][0][:3], seen[0, :3])
    assert info["final_info"]["distance"].shape == (2,)


def test_goals_can_be_reached(reach):
    """At least for the inputs that they were drawn with."""
    goals = reach.reachable()
    assert len(goals) > 100 and np.ptp(goals, axis=0).min() > 0.1
    inside = np.linalg.norm(goals, axis=1)
    assert inside.max() < reach.length and inside.min() > 0.3 * reach.length


def test_robots_that_differ():
    task = env.Reach(tendon_arm, randomise={"young": (1e5, 2e5), "payload": (0.0, 0.2)}, variants=3)
    robots = env.RobotVectorEnv(task, 6)
    robots.reset(seed=1)
    for _ in range(30):
        seen, *_ = robots.step(np.ones((6, 6)) * [1, 1, 0, 0, 0, 0])
    tips = seen[:, :3]
    assert np.allclose(tips[0], tips[1]) and np.linalg.norm(tips[0] - tips[2]) > 1e-3


def test_a_robot_file(tmp_path):
    robot, arm = ag.Robot("arm", gravity=(9.81, 0, 0)), None
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), ag.Material(young=1e6, density=1000, damping=0.02), ag.planar(3)),
                    at=robot.ground, name="arm")  # fmt: skip
    robot.actuate("up", ag.Tendon(arm, ag.parallel(y=0.008)))
    robot.actuate("down", ag.Tendon(arm, ag.parallel(y=-0.008)))
    ag.write_robot(robot, tmp_path / "arm.yaml")
    made = env.from_file(tmp_path / "arm.yaml", "arm.tip", {"up": (0, 2), "down": (0, 2)}, horizon=20)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        check_env(made, skip_render_check=True)
    many = env.from_file(tmp_path / "arm.yaml", "arm.tip", {"up": (0, 2)}, num_envs=4)
    assert many.reset()[0].shape == (4, 13)
    with pytest.raises(ag.DescriptionError, match=r"there is no frame 'arm\.end'"):
        env.from_file(tmp_path / "arm.yaml", "arm.end", {"up": (0, 2)})
    with pytest.raises(ag.DescriptionError, match="inputs among up, down"):
        env.from_file(tmp_path / "arm.yaml", "arm.tip", {"left": (0, 2)})


def test_the_eel_swims_by_a_travelling_wave():
    """Muscles that pull one after the other, from head to tail, drive it ahead; all at once they do not."""
    task = env.Swim(horizon=200)
    way = []
    for lag in (2 * np.pi / 3, 0.0):
        robots = env.RobotVectorEnv(task, 1)
        robots.reset(seed=0)
        for k in range(80):
            phase = 2 * np.pi * 1.0 * k * task.period - lag * np.arange(3)
            robots.step(np.stack([np.sin(phase), -np.sin(phase)], axis=1).reshape(1, 6))
        way.append(robots.fleet.read()[0, 0])
    assert way[0] < -0.1 and way[0] < 2 * way[1]


def test_a_ball_is_grasped_and_lifted_by_pulling_then_lifting():
    robots = env.RobotVectorEnv(env.Grasp(), 2)
    robots.reset(seed=0)
    for k in range(130):
        _, reward, terminated, _, info = robots.step(_pull_then_lift(k, robots))
        assert not terminated.any()
    assert info["is_success"].all() and (reward > 0.45).all()
    felt = robots.fleet.read()[:, 9:].reshape(2, 3, 3)  # the ball hangs on the fingers: they carry its weight
    assert np.allclose(felt.sum(axis=1)[:, 2], 0.03 * 9.81, rtol=0.02)
    slippery = env.RobotVectorEnv(env.Grasp(lambda: touching.soft_gripper(friction=0.05)), 1)
    slippery.reset(seed=0)
    for k in range(130):
        _, _, _, _, info = slippery.step(_pull_then_lift(k, slippery))
    assert not info["is_success"].any()


def _pull_then_lift(k, robots):
    action = np.zeros((robots.num_envs, 4))
    assert robots.task.names == ["tendon_1", "tendon_2", "tendon_3", "lift"]
    action[:, :3] = k < 33
    if k > 50:
        seen = robots.fleet.read()
        way = robots._goals[:, 0] - seen[:, 2]
        action[:, 3] = np.clip(70.0 * way, -0.6, 0.6)
    return action


def test_a_snake_follows_its_track_when_a_wave_runs_along_it():
    """In a beat by one wave of the track, whose pegs do not let it slip."""
    task = env.Crawl(horizon=100)
    robots = env.RobotVectorEnv(task, 1)
    robots.reset(seed=0)
    for k in range(80):
        t = (k + 1) * task.period
        s = min(t / 2.0, 1.0)
        phase = 2 * np.pi * (s**4 * (2.5 - 3.0 * s + s**2) if s < 1.0 else 0.5 + t / 2.0 - 1.0)
        _, _, terminated, _, info = robots.step(task.moments(np.array([phase])) / task.high)
        assert not terminated.any()
    waves = phase / (2 * np.pi)  # 1.5 in 4 s
    fine = np.linspace(0.0, 0.5, 2001)
    chord = np.trapezoid(np.cos(touching.BEND * 0.5 / (2 * np.pi) * np.cos(4 * np.pi * fine)), fine)
    assert info["way"][0] == pytest.approx(waves * chord, rel=0.08)


def test_people_can_watch(capsys):
    pytest.importorskip("viser")
    robot = env.RobotEnv(env.Reach(horizon=6), render_mode="human")
    robot.reset(seed=0)
    began = time.perf_counter()
    for _ in range(4):
        robot.step(np.ones(6))
    assert time.perf_counter() - began > 3 * robot.task.period
    assert "the first robot is shown at http://127.0.0.1:" in capsys.readouterr().err
    assert robot.render() is None
    robot.close()
    with pytest.raises(ag.DescriptionError, match="render_mode must be None, rgb_array or human"):
        env.RobotEnv(env.Reach(horizon=6), render_mode="ansi")
