"""A line of given length, without a compliance, that becomes taut in a motion: an impact from which nothing rebounds."""

from itertools import pairwise

import numpy as np
import pytest

import anguilla as ag

LENGTH, REST, SPEED = 0.5, 0.3, 2.0  # [m] of the line, [m] between the bodies at first, [m/s] of the one that leaves
LIGHT, HEAVY = 1.0, 2.0  # [kg]


def sliders():
    """Two bodies on one track, with a slack line between them; the heavy one moves away."""
    robot = ag.Robot("tow", gravity=(0, 0, 0))
    add = lambda mass, name: robot.add(
        ag.RigidBody.box((0.02, 0.02, 0.02), mass=mass), at=robot.ground, joint=ag.Prismatic((1, 0, 0)), name=name
    )
    light, heavy = add(LIGHT, "light"), add(HEAVY, "heavy")
    robot.actuate("line", ag.Tendon([light.frame, heavy.frame], ag.parallel(), by="length"))
    return robot, ([0.0, REST], [0.0, SPEED])


@pytest.mark.parametrize("dt", [4e-3, 1.7e-3, 5e-4])
def test_bodies_on_a_line_go_on_together(dt):
    """Momentum is kept, and what would lengthen the line is lost: both move at HEAVY SPEED / (LIGHT + HEAVY)."""
    robot, start = sliders()
    steps = round(0.2 / dt)
    run = ag.simulate(robot, duration=steps * dt, dt=dt, inputs={"line": LENGTH}, start=start)
    common = HEAVY * SPEED / (LIGHT + HEAVY)
    taut = (LENGTH - REST) / SPEED
    assert run.v[-1] == pytest.approx([common, common], rel=1e-9)
    late = np.maximum(run.t - taut, 0.0)
    assert run["heavy.slide"] == pytest.approx(REST + SPEED * (run.t - late) + common * late, abs=SPEED * dt)
    assert np.max(run.length("line")) <= LENGTH + 1e-9
    energy = run.energy["total"]
    assert np.all(np.diff(energy) < 1e-9)
    assert energy[-1] == pytest.approx(0.5 * (LIGHT + HEAVY) * common**2, rel=1e-9)


def soft_arm(dt, every):
    """Antagonists driven by their lengths, one drawn in by more than the other gives."""
    robot = ag.Robot("antagonists", gravity=(0, -9.81, 0))
    rubber = ag.Material(young=1e6, poisson=0.45, density=1000, damping=0.02)
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), rubber, ag.planar(3, stretch_modes=1)), at=robot.ground, name="arm")
    for name, y in {"up": 0.008, "down": -0.008}.items():
        robot.actuate(name, ag.Tendon(arm, ag.parallel(y=y), by="length"))
    draw = lambda t: 0.012 * np.sin(8 * t)
    lengths = {"up": lambda t: 0.3 - draw(t), "down": lambda t: 0.3 + 0.5 * draw(t)}
    start = ag.statics(robot, inputs={name: f(0.0) for name, f in lengths.items()})
    return ag.simulate(robot, duration=0.6, dt=dt, every=every, inputs=lengths, start=start).position(arm.tip)


def test_stiff_antagonists_converge():
    """They moved by 1 to 3 % of the length whenever the step was halved, and nothing was said."""
    tips = [soft_arm(4e-3 / k, k) for k in (2, 4, 8)]
    apart = [np.max(np.abs(b - a)) / 0.3 for a, b in pairwise(tips)]
    assert apart[0] < 1e-3 and apart[1] < 3e-4


def test_a_loose_line_makes_no_energy():
    """An undamped arm that swings into a slack line again and again, without anything that drives it."""
    robot = ag.Robot("arm", gravity=(0, 0, -9.81))
    plastic = ag.Material(young=5e8, density=1100, poisson=0.4)
    joint = ag.Revolute((0, 1, 0), stiffness=2.0)
    arm = robot.add(ag.Rod(0.5, ag.Circle(0.008), plastic, ag.kirchhoff(2)), at=robot.ground, joint=joint, name="arm")
    robot.actuate("line", ag.Tendon([robot.ground.offset_by((0, 0, 0.3)), arm.tip], ag.parallel(), by="length"))
    at_rest = np.hypot(0.5, 0.3)
    for dt in (1e-3, 2.5e-4):
        run = ag.simulate(robot, duration=1.0, dt=dt, inputs={"line": at_rest + 0.02}, progress=False)
        energy = run.energy["total"]
        play = np.max(run.energy["kinetic"])
        assert run.status.counters["snaps"] > 0
        assert np.max(energy - np.minimum.accumulate(energy)) < 0.01 * play, dt


def test_gradients_need_a_compliance():
    robot, start = sliders()
    run = ag.simulate(robot, duration=0.2, dt=2e-3, inputs={"line": LENGTH}, start=start, smooth_start=False)
    with pytest.raises(ag.DescriptionError, match="snaps taut during this motion: give it a compliance"):
        ag.gradient(run, ag.Reach(robot.parts[1].frame, (1.0, 0.0, 0.0)))
