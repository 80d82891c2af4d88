"""What a new user types: results as tables and videos, frames after loading, short texts of big objects, wrong units."""

import numpy as np
import pytest

import anguilla as ag


@pytest.fixture(scope="module")
def robot():
    robot = ag.Robot("arm")
    material = ag.Material(young=3e6, poisson=0.49, density=1070, damping=0.02)
    robot.add(ag.Rod(0.2, ag.Circle(0.01), material, ag.kirchhoff(2)), at=robot.ground, name="arm")
    robot.actuate("pull", ag.Tendon(robot.parts[0], ag.parallel(z=0.007)))
    return robot


@pytest.fixture(scope="module")
def run(robot):
    return ag.simulate(robot, duration=0.1, dt=0.01, inputs={"pull": 2.0})


def test_a_result_is_saved_as_a_table(run, tmp_path):
    with np.load(run.save(tmp_path / "run.npz")) as table:
        assert np.array_equal(table["q"], run.q)
    lines = run.save(tmp_path / "run.csv").read_text().splitlines()
    assert len([line for line in lines if not line.startswith("#")]) == 1 + len(run.t)
    assert run.save(tmp_path / "run.mat").stat().st_size > 1000
    with pytest.raises(ag.DescriptionError, match=r"\.nc or \.csv"):
        run.save(tmp_path / "run.txt")


def test_a_result_is_a_table_of_labels(run):
    table = run.to_xarray()
    assert np.array_equal(table["q"].to_pandas()["arm.bend_z[1]"], run["arm.bend_z[1]"])
    assert len(table[["q", "v"]].to_dataframe()) == run.q.size
    assert all(table.sizes.values())


def test_one_state_is_drawn(run, tmp_path):
    assert len(ag.plot(run[3:4], tmp_path / "state.png").axes) > 1


def test_a_motion_is_animated_as_a_video(run, robot, tmp_path):
    assert ag.animate(run, tmp_path / "run.gif").read_bytes().startswith(b"GIF8")
    with pytest.raises(ag.DescriptionError, match="Trajectory"):
        ag.animate(ag.statics(robot), tmp_path / "still.gif")


def test_frames_of_a_loaded_result_are_its_own(run, robot, tmp_path):
    again = ag.load(run.save(tmp_path / "run.nc"))
    with pytest.raises(ag.DescriptionError, match=r"run\.robot\.part\('arm'\)"):
        again.position(robot.parts[0].tip)
    assert np.array_equal(again.position(again.robot.part("arm").tip), run.position(robot.parts[0].tip))


def test_texts_are_short(run, robot):
    arm = robot.parts[0]
    assert repr(arm.tip) == "<frame arm.tip of robot 'arm'>"
    assert repr(robot.ground.offset_by((0, 0, 1))) == "<frame ground + (0, 0, 1) of robot 'arm'>"
    assert repr(ag.stability(robot)).startswith("<stable; lowest eigenvalue ")
    slope = ag.gradient(run, ag.Reach(arm.tip, (0.1, 0, 0.1), weight="last"))
    assert repr(slope).endswith("by 11 instants of 'pull', 6 coordinates of the start>")
    ahead = ag.sensitivities(run, inputs={"pull": np.ones(11)})
    assert repr(ahead) == f"<derivatives of {run!r} by pull[0]>"
    assert repr(ag.powers(run)).startswith("<powers at 11 instants, means in W: motors ")
    model = ag.control.RodModel(robot, {"tip": arm.tip}, efforts={"pull": (0, 20)})
    reach = ag.control.inverse_kinematics(model, {"tip": (0.19, 0, 0.0)})
    assert repr(reach).startswith("<settled in ") and repr(reach).count("m from the target") == 1


def test_millimetres_are_noticed():
    with pytest.warns(ag.AnguillaWarning, match="10 mm are 0.01 m"):
        thick = ag.Circle(10)
    with pytest.warns(ag.AnguillaWarning, match="not in millimetres"):
        ag.Rod(300, thick, ag.Material(5e5, 1070), ag.kirchhoff(3))


def test_an_input_given_by_its_values_is_sampled(robot):
    with pytest.raises(ag.DescriptionError, match=r"ag\.Sampled\(values, dt\)"):
        ag.simulate(robot, duration=0.1, dt=0.01, inputs={"pull": np.linspace(0, 1, 11)})
    given = ag.simulate(robot, duration=0.1, dt=0.01, inputs={"pull": ag.Sampled(np.linspace(0, 1, 11), 0.01)})
    same = ag.simulate(robot, duration=0.1, dt=0.01, inputs={"pull": lambda t: 10 * t})
    np.testing.assert_allclose(given.q, same.q, atol=1e-10)


def test_a_rigid_robot_at_rest_is_drawn(tmp_path):
    robot = ag.Robot("pendulum")
    robot.add(
        ag.RigidBody.box((0.5, 0.02, 0.02), mass=1, com=(0.25, 0, 0)), at=robot.ground, joint=ag.Revolute((0, 1, 0))
    )
    assert len(ag.plot(ag.statics(robot), tmp_path / "still.png").axes) == 1


def test_soft_volumes_are_shown_their_door():
    body = ag.fem.SoftBody("block", ag.fem.block((0.1, 0.02, 0.02), (2, 1, 1)), ag.Material(5e5, 1050, poisson=0.45))
    body.fix("base")
    with pytest.raises(ag.DescriptionError, match=r"ag\.fem\.statics"):
        ag.statics(body)
    with pytest.raises(ag.DescriptionError, match="colour must be"):
        ag.plot(ag.fem.statics(body), colour="temperature")


def test_a_motion_of_a_soft_volume_is_saved_as_a_table(tmp_path):
    body = ag.fem.SoftBody("block", ag.fem.block((0.1, 0.02, 0.02), (2, 1, 1)), ag.Material(5e5, 1050, poisson=0.45))
    body.fix("base")
    run = ag.fem.simulate(body, duration=0.02, dt=0.01)
    assert len(run.save(tmp_path / "run.csv").read_text().splitlines()) == 1 + len(run.t)
    assert run.save(tmp_path / "run.npz").stat().st_size > 100
