"""Gradients of equilibria and motions, and modes, of rods and soft volumes together: against differences and theory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem
from anguilla.errors import DescriptionError
from anguilla.lie import exp3
from anguilla.model.user import move

SOFT = ag.Material(young=1e6, poisson=0.0, density=1000.0)


def robot_of(young: float = 3e5, length: float = 0.1) -> tuple[ag.Robot, ag.Frame]:
    """A tendon arm with a soft end that has a tendon and a chamber; its plate is held by a spring in a loop."""
    robot = ag.Robot("arm")
    firm = ag.Material(young=5e7, poisson=0.3, density=1200.0)
    arm = robot.add(ag.Rod(length, ag.Circle(radius=0.003), firm, strains=ag.kirchhoff(2)), at=robot.ground, name="arm")
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.01)))
    pad = ag.Volume(
        fem.block((0.05, 0.02, 0.02), (4, 2, 2)), ag.Material(young=young, poisson=0.4, density=1070.0), name="pad"
    )
    pad.actuate("bend", fem.Tendon([(x, 0.0, 0.008) for x in np.linspace(0.0, 0.05, 4)]))
    pad.actuate("blow", fem.Chamber(pad.mesh.boundary, pressure=(-1e4, 1e4)))
    plate = robot.add(pad, at=arm.tip, patch="base").frame("plate", "tip")
    leg = robot.add(ag.Rod(0.05, ag.Circle(radius=0.002), firm, strains=ag.kirchhoff(1)), at=plate, name="leg")
    robot.close(robot.ground, leg.tip, joint=ag.Prismatic(axis=(1, 0, 0)), pose=(length + 0.1, 0.0, 0.0))
    robot.load(ag.Wrench(plate, force=robot.input("push", "N", along=(0.0, 1.0, 0.5))))
    return robot, plate


INPUTS = {"pull": 1.0, "pad.bend": 0.3, "pad.blow": 500.0, "push": 0.05}
GOAL = (0.15, 0.05, 0.02)


def cost_of(robot: ag.Robot, plate: ag.Frame, inputs: dict[str, float], start: object = None) -> float:
    found = ag.statics(robot, inputs=inputs, tolerance=1e-13, start=start)
    return 0.5 * float(np.sum((found.position(plate) - np.array(GOAL)) ** 2))


def test_gradients_by_inputs_of_rods_and_volumes_are_those_of_differences():
    robot, plate = robot_of()
    rest = ag.statics(robot, inputs=INPUTS, tolerance=1e-13)
    found = ag.gradient(rest, ag.Reach(plate, GOAL))
    assert found.value == pytest.approx(cost_of(robot, plate, INPUTS))
    assert set(found.inputs) == set(INPUTS)
    for name, value in INPUTS.items():
        h = 1e-2 * value
        ends = [cost_of(robot, plate, INPUTS | {name: value + k * h}, rest) for k in (-2, -1, 1, 2)]
        slope = (ends[0] - 8.0 * ends[1] + 8.0 * ends[2] - ends[3]) / (12.0 * h)
        assert found.inputs[name][0] == pytest.approx(slope, rel=1e-6, abs=0.0)


def test_gradients_by_materials_and_lengths_are_those_of_differences():
    robot, plate = robot_of()
    rest = ag.statics(robot, inputs=INPUTS, tolerance=1e-13)
    paths = ag.gradient(rest, ag.Reach(plate, GOAL), design=["pad.material.young", "arm.material.young"]).design
    made = ag.gradient(rest, ag.Reach(plate, GOAL), design=(lambda p: robot_of(p[0], p[1])[0], [3e5, 0.1])).design
    assert made[0] == pytest.approx(paths[0], rel=1e-7, abs=0.0)
    for k, (value, make) in enumerate(((3e5, lambda p: robot_of(young=p)), (0.1, lambda p: robot_of(length=p)))):
        h = 5e-3 * value
        ends = [cost_of(*make(value + j * h), INPUTS) for j in (-2, -1, 1, 2)]
        assert made[k] == pytest.approx(
            (ends[0] - 8.0 * ends[1] + 8.0 * ends[2] - ends[3]) / (12.0 * h), rel=1e-6, abs=0.0
        )
    arm, ends = robot.part("arm").rod.material, []
    for factor in (0.99, 0.995, 1.005, 1.01):
        twin, end = robot_of()
        other = ag.Material(young=factor * arm.young, poisson=0.3, density=1200.0)
        twin.part("arm").rod.material = twin.part("leg").rod.material = other  # the leg is of the same material
        ends.append(cost_of(twin, end, INPUTS))
    slope = (ends[0] - 8.0 * ends[1] + 8.0 * ends[2] - ends[3]) / (0.06 * arm.young)
    assert paths[1] == pytest.approx(slope, rel=1e-6, abs=0.0)


STEPS, DT = 4, 2e-3


def swinging(young: float = 3e5, damping: float = 0.0) -> tuple[ag.Robot, ag.Frame]:
    """A damped tendon arm with a soft end that has a tendon and a chamber, and a plate on which a force acts."""
    robot = ag.Robot("arm")
    firm = ag.Material(young=5e7, poisson=0.3, density=1200.0, damping=0.01)
    arm = robot.add(ag.Rod(0.1, ag.Circle(radius=0.003), firm, strains=ag.kirchhoff(2)), at=robot.ground, name="arm")
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.01)))
    silicone = ag.Material(young=young, poisson=0.4, density=1070.0, damping=damping)
    pad = ag.Volume(fem.block((0.05, 0.02, 0.02), (3, 1, 1)), silicone, name="pad")
    pad.actuate("bend", fem.Tendon([(x, 0.0, 0.008) for x in np.linspace(0.0, 0.05, 4)]))
    pad.actuate("blow", fem.Chamber(pad.mesh.boundary, pressure=(-1e4, 1e4)))
    plate = robot.add(pad, at=arm.tip, patch="base").frame("plate", "tip")
    robot.load(ag.Wrench(plate, force=robot.input("push", "N", along=(0.0, 1.0, 0.5))))
    return robot, plate


def signals(name: str = "", k: int = 0, h: float = 0.0) -> dict[str, ag.Sampled]:
    """Inputs that change with time; one of them has h added at one instant."""
    shape = {key: value * (1.0 + 0.3 * np.sin(np.arange(STEPS + 1) + len(key))) for key, value in INPUTS.items()}
    if name:
        shape[name][k] += h
    return {key: ag.Sampled(value, DT) for key, value in shape.items()}


def swing(robot: ag.Robot, inputs: dict[str, ag.Sampled], **options: object) -> ag.Trajectory:
    settings = {"duration": STEPS * DT, "dt": DT, "tolerance": 1e-13, "events": []} | options
    return ag.simulate(robot, inputs=inputs, **settings)


def difference(of: Callable[[float], float], h: float) -> float:
    ends = [of(k * h) for k in (-2, -1, 1, 2)]
    return (ends[0] - 8.0 * ends[1] + 8.0 * ends[2] - ends[3]) / (12.0 * h)


@pytest.mark.parametrize("smooth", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_gradients_of_motions_by_inputs_materials_and_start_are_those_of_differences(smooth):
    robot, plate = swinging()
    cost = lambda plate: ag.Reach(plate, GOAL) + ag.Rest(1e-4)
    run = swing(robot, signals(), smooth_start=smooth)
    found = ag.gradient(run, cost(plate), design=["pad.material.young"])
    value = lambda inputs, **start: cost(plate)(swing(robot, inputs, smooth_start=smooth, **start))
    assert found.value == pytest.approx(value(signals()), rel=1e-12)
    assert set(found.inputs) == set(INPUTS)
    for k, (name, size) in enumerate(INPUTS.items()):
        for instant in (0, 1 + k):
            slope = difference(lambda h, at=instant, name=name: value(signals(name, at, h)), 1e-2 * size)
            assert found.inputs[name][instant] == pytest.approx(slope, rel=1e-6, abs=0.0)

    def made(young: float) -> float:
        other, end = swinging(young)
        return cost(end)(swing(other, signals(), smooth_start=smooth))

    assert found.design[0] == pytest.approx(difference(lambda h: made(3e5 + h), 1.5e3), rel=1e-6, abs=0.0)
    q, v, unit = run.q[0], run.v[0], np.eye(run.system.size)
    for k, h in ((0, 1e-2), (3, 1e-2), (run.system.tree.ball[0, 0] + 1, 1e-4)):  # the last is a turn of the plate
        turned = lambda by, k=k: (move(run.system.tree, q, by * unit[k]), v)
        slope = difference(lambda h, turned=turned: value(signals(), start=turned(h)), h)
        assert found.q[k] == pytest.approx(slope, rel=1e-6, abs=0.0)
        slope = difference(lambda h, k=k: value(signals(), start=(q, v + h * unit[k])), 10.0 * h)
        assert found.v[k] == pytest.approx(slope, rel=1e-6, abs=0.0)


def test_gradients_of_motions_refuse_what_they_cannot_do():
    robot, plate = swinging(damping=1e-3)
    run = ag.simulate(robot, duration=2e-3, dt=1e-3)
    with pytest.raises(DescriptionError, match="damping or Prony"):
        ag.gradient(run, ag.Reach(plate, GOAL))
    robot, plate = robot_of()
    run = ag.simulate(robot, duration=2e-3, dt=1e-3)
    with pytest.raises(DescriptionError, match="loops"):
        ag.gradient(run, ag.Reach(plate, GOAL))
    robot, plate = swinging()
    run = ag.simulate(robot, duration=4e-3, dt=1e-3, every=2)
    with pytest.raises(DescriptionError, match="equal steps"):
        ag.gradient(run, ag.Reach(plate, GOAL))


def test_modes_of_a_rod_and_a_volume_are_those_of_one_rod():
    length, thick = 0.1, 0.01
    robot = ag.Robot("bar", gravity=(0.0, 0.0, 0.0))
    rod = lambda size, modes: ag.Rod(size, ag.Rectangle(thick, thick), SOFT, strains=ag.reissner(modes))
    first = robot.add(rod(length, 4), at=robot.ground)
    half = ag.Volume(fem.block((length, thick, thick), (8, 2, 2)), SOFT, element="quadratic")
    end = robot.add(half, at=first.tip, patch="base").frame("end", "tip")
    found = ag.modes(robot, count=6)
    alone = ag.Robot("rod", gravity=(0.0, 0.0, 0.0))
    alone.add(rod(2 * length, 8), at=alone.ground)
    expected = ag.modes(alone).frequencies
    assert found.frequencies[:4] == pytest.approx(expected[:4], rel=5e-3)  # bending, twice two
    rest = found.result
    twist = rest.jacobian(end) @ found.shapes[:, 0]
    tip = found.nodes["volume"][half.mesh.nodes["tip"], :, 0].mean(axis=0)
    assert tip == pytest.approx(rest.pose(end)[:3, :3] @ twist[3:], abs=1e-9 * np.abs(tip).max())


def test_the_lowest_mode_of_a_heavy_mass_on_a_soft_bar_is_that_of_a_spring():
    robot = ag.Robot("bob", gravity=(0.0, 0.0, 0.0))
    bob = robot.add(ag.RigidBody(0.5, inertia=(1e-3, 1e-3, 1e-3)), at=robot.ground, joint=ag.Prismatic(axis=(1, 0, 0)))
    bar = robot.add(
        ag.Volume(fem.block((0.1, 0.01, 0.01), (8, 2, 2)), SOFT), at=robot.ground, pose=(-0.1, 0, 0), patch="base"
    )
    bar.clamp("tip", bob.frame)
    own = 0.1 * 0.01**2 * SOFT.density
    stiff = SOFT.young * 0.01**2 / 0.1
    found = ag.modes(robot, count=3).frequencies
    axial = np.sqrt(stiff / (0.5 + own / 3.0)) / (2.0 * np.pi)  # Rayleigh
    assert np.abs(found - axial).min() < 1e-3 * axial


@pytest.mark.parametrize("turned", [False, True])
def test_a_free_volume_has_the_modes_of_a_free_beam_and_is_not_called_unstable(turned):
    """In whatever direction it lies; a body that carries it would be felt, so nothing does. Warnings are errors here."""
    length, thick, soft = 0.2, 0.01, ag.Material(young=1e6, poisson=0.0, density=1000.0)
    robot = ag.Robot("drifter", gravity=(0.0, 0.0, 0.0))
    pose = np.eye(4)
    if turned:
        pose[:3, :3], pose[:3, 3] = exp3(np.array([0.3, -0.4, 0.8])), (0.3, 0.2, -0.5)
    bar = ag.Volume(fem.block((length, thick, thick), (24, 2, 2)), soft, element="quadratic")
    robot.add(bar, at=robot.ground, pose=pose).frame("end", "base")
    rest = ag.statics(robot)
    assert rest.status.counters["unstable"] == 0
    points = rest.volume("volume").x[: len(bar.mesh.points)]
    assert np.allclose(points, bar.mesh.points @ pose[:3, :3].T + pose[:3, 3], rtol=0, atol=1e-12)
    found = ag.modes(robot, rest, count=8).frequencies
    assert np.array_equal(found[:6], np.zeros(6))
    slope = np.sqrt(soft.young * thick**2 / 12.0 / (soft.density * length**4))
    assert found[6:] == pytest.approx(4.7300**2 * slope / (2.0 * np.pi), rel=0.012)


def test_a_volume_on_a_hinge_without_gravity_has_one_mode_of_frequency_zero():
    robot = ag.Robot("flag", gravity=(0.0, 0.0, 0.0))
    hub = robot.add(ag.RigidBody(1e-3, inertia=(1e-7, 1e-7, 1e-7)), at=robot.ground, joint=ag.Revolute((0, 0, 1)))
    soft = ag.Material(young=1e6, poisson=0.3, density=1000.0)
    robot.add(ag.Volume(fem.block((0.1, 0.01, 0.01), (6, 1, 1)), soft), at=hub.frame, patch="base")
    rest = ag.statics(robot)
    found = ag.modes(robot, rest, count=4).frequencies
    assert rest.status.counters["unstable"] == 0
    assert found[0] == 0.0 and np.all(found[1:] > 1.0)
