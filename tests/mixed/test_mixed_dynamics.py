"""Motions of rods, bodies and soft volumes in one robot: momenta, pendulums of one rod, frequencies, tangents, rest."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem
from anguilla.errors import DescriptionError
from anguilla.mixed.dynamics import MixedStep, MixedStepper
from anguilla.mixed.model import MixedModel
from anguilla.mixed.statics import Mixed, coupled, nodes_from
from anguilla.model.user import move
from anguilla.solve.steps.schemes import GeneralisedAlpha

SOFT = ag.Material(young=1e6, poisson=0.0, density=1000.0)
LENGTH, THICK = 0.1, 0.01


def bar(length: float = LENGTH, cells: int = 6, element: str = "quadratic", material: ag.Material = SOFT) -> ag.Volume:
    return ag.Volume(fem.block((length, THICK, THICK), (cells, 2, 2)), material, element=element)


def rod(length: float = LENGTH, material: ag.Material = SOFT, modes: int = 4) -> ag.Rod:
    return ag.Rod(length, ag.Rectangle(THICK, THICK), material, strains=ag.reissner(modes))


def flyer() -> tuple[ag.Robot, ag.Frame]:
    """A hub that flies, with an arm whose end is soft."""
    robot = ag.Robot("flyer", gravity=(0.0, 0.0, 0.0), base="free")
    hub = robot.add(ag.RigidBody.box((0.02, 0.03, 0.04), mass=0.05), at=robot.ground, name="hub")
    arm = robot.add(rod(modes=2), at=hub.frame, name="arm")
    pad = robot.add(bar(cells=4, element="linear"), at=arm.tip, patch="base")
    return robot, pad.frame("end", "tip")


def errors_of_momenta(speed: float, dt: float, duration: float) -> tuple[float, float]:
    robot, _ = flyer()
    v = np.zeros(robot.size)
    v[:6] = speed * np.array([0.3, -0.2, 0.1, 2.0, 3.0, -1.0])
    run = ag.simulate(robot, duration=duration, dt=dt, start=(np.zeros(robot.size), v))
    return tuple(float(np.abs(x - x[0]).max() / np.linalg.norm(x[0])) for x in (run.momentum, run.angular_momentum))


@pytest.mark.parametrize("speed", [0.03, 1.0])
def test_a_free_robot_keeps_its_momenta(speed):
    assert max(errors_of_momenta(speed, 2e-3, 0.04)) < 1e-9


def test_a_free_robot_that_keeps_its_momenta_is_right_to_second_order():
    robot, end = flyer()
    v = np.zeros(robot.size)
    v[:6] = [0.3, -0.2, 0.1, 2.0, 3.0, -1.0]
    paths = []
    for dt in (4e-3, 2e-3, 5e-4):
        run = ag.simulate(robot, duration=0.04, dt=dt, start=(np.zeros(robot.size), v), every=round(4e-3 / dt))
        paths.append(run.position(end))
    coarse, fine = (np.linalg.norm(path - paths[-1], axis=1).max() for path in paths[:2])
    assert 3.2 < coarse / fine < 6.0
    assert fine < 1e-5


def pendulum(parts: str) -> tuple[ag.Robot, ag.Frame]:
    """A heavy soft bar on a hinge: "mixed" of a rod and a volume, or one "rod"."""
    robot = ag.Robot("pendulum")
    hinge = ag.Revolute(axis=(0, 1, 0))
    if parts == "rod":
        whole = robot.add(rod(2 * LENGTH, modes=6), at=robot.ground, joint=hinge)
        return robot, whole.tip
    first = robot.add(rod(), at=robot.ground, joint=hinge)
    half = robot.add(bar(cells=4), at=first.tip, patch="base")
    return robot, half.frame("end", "tip")


def test_a_heavy_pendulum_of_a_rod_and_a_volume_swings_like_one_rod():
    paths = []
    for parts, dt in (("mixed", 2e-3), ("rod", 2.5e-4)):
        robot, tip = pendulum(parts)
        run = ag.simulate(robot, duration=0.16, dt=dt, every=round(2e-3 / dt), method="newmark")
        paths.append(run.position(tip))
        assert np.ptp(run.energy["total"]) < 2e-3 * run.energy["kinetic"].max()
    mixed, single = paths
    assert np.linalg.norm(single[-1] - single[0]) > LENGTH  # a long way
    assert np.linalg.norm(mixed - single, axis=1).max() < 5e-3 * 2 * LENGTH


def test_the_error_of_a_motion_is_of_second_order_in_the_step():
    paths = []
    for dt in (1e-3, 5e-4, 1.25e-4):
        robot = ag.Robot("arm", gravity=(0.0, 0.0, 0.0))
        first = robot.add(rod(0.05, modes=2), at=robot.ground)
        pad = robot.add(bar(0.05, 2, "linear"), at=first.tip, patch="base")
        end = pad.frame("end", "tip")
        robot.load(ag.Wrench(end, force=lambda t: (0.0, 0.0, -5e-3 * (1.0 - np.cos(2.0 * np.pi * t / 0.04)) ** 2)))
        run = ag.simulate(robot, duration=0.04, dt=dt, method="newmark", every=round(1e-3 / dt))
        paths.append(run.position(end))
    coarse, middle = (np.linalg.norm(path - paths[-1]) for path in paths[:2])
    assert 3.3 < coarse / middle < 5.0  # 4.2 if exact


def test_an_equilibrium_stays_and_a_damped_motion_comes_to_it():
    damped = ag.Material(young=1e6, poisson=0.0, density=1000.0, damping=0.1)
    robot = ag.Robot("arm")
    first = robot.add(rod(0.05, damped, modes=2), at=robot.ground)
    pad = robot.add(bar(0.05, 3, "linear", damped), at=first.tip, patch="base")
    end = pad.frame("end", "tip")
    rest = ag.statics(robot)
    run = ag.simulate(robot, duration=0.05, dt=5e-3, start=rest)
    assert np.abs(run.position(end) - rest.position(end)).max() < 1e-10
    assert np.abs(run.volume(pad).x - rest.volume(pad).x).max() < 1e-10
    fall = ag.simulate(robot, duration=2.0, dt=2e-2, method=ag.GeneralisedAlpha(0.5))
    sag = abs(rest.position(end)[2])
    assert np.linalg.norm(fall.position(end)[-1] - rest.position(end)) < 1e-3 * sag
    assert fall.energy["total"][-1] == pytest.approx(rest.energy["total"], rel=1e-3)


def test_inputs_of_volumes_drive_a_motion_and_loops_stay_closed():
    robot = ag.Robot("loop", gravity=(0.0, 0.0, 0.0))
    hub = robot.add(ag.RigidBody(0.02, inertia=(1e-6, 1e-6, 1e-6)), at=robot.ground, joint=ag.Free(), name="hub")
    robot.close(robot.ground, hub.frame, joint=ag.Revolute(axis=(0, 0, 1)))
    pad = bar(0.05, 3, "linear")
    pad.actuate("pull", fem.Tendon([(0.0, 0.004, 0.0), (0.025, 0.004, 0.0), (0.05, 0.004, 0.0)]))
    soft = robot.add(pad, at=robot.ground, patch="base", pose=(-0.05, 0, 0))
    soft.clamp("tip", hub.frame)
    run = ag.simulate(robot, duration=0.5, dt=5e-3, inputs={"volume.pull": lambda t: 2.0 * min(t / 0.2, 1.0)},
                      method=ag.GeneralisedAlpha(0.3))  # fmt: skip
    assert np.abs(run.position(hub.frame)).max() < 1e-9
    rest = ag.statics(robot, inputs={"volume.pull": 2.0})
    turn = lambda pose: np.arctan2(pose[..., 1, 0], pose[..., 0, 0])
    assert abs(turn(rest.pose(hub.frame))) > 0.01
    assert turn(run.pose(hub.frame))[-20:].mean() == pytest.approx(turn(rest.pose(hub.frame)), rel=0.02)
    assert run.volume("volume").inputs["pull"](0.1) == pytest.approx(1.0)


def test_the_tangent_of_a_step_is_the_derivative_of_its_residual():
    robot, _ = flyer()
    model, rng = MixedModel(robot), np.random.default_rng(1)
    carrier, n = model.carrier, model.carrier.size
    with ExitStack() as desks:
        desks.enter_context(carrier.apart())
        loads = carrier.loads(0.0, {}).at(0)
        stepper = MixedStepper(model, carrier, GeneralisedAlpha(0.8).coefficients, 1e-2, 1e-8)
        q, v = (0.1 * rng.standard_normal(n) / carrier.tree.scale for _ in range(2))
        x = nodes_from(model, q, None, np.zeros(3))
        now, _ = stepper.begin(q, v, x, loads, [np.zeros(0)])
        problem = MixedStep(stepper, now, loads, [np.zeros(0)], 0.0)
        d = move(carrier.tree, 0.0 * q, 0.3 * rng.standard_normal(n) / carrier.tree.scale)
        free = model.halves[0].free
        nodes = nodes_from(model, move(carrier.tree, q, d), None, np.zeros(3))
        at = problem.evaluate(Mixed(d, np.zeros(0), nodes))
        matrix = at.matrix()
        (seam,) = coupled(model, matrix, at)
        cross = seam.J.T @ seam.cross
        blocks = at.blocks[0].copy()  # the next evaluation writes there
        step = rng.standard_normal(n) / carrier.tree.scale
        shift = 0.1 * rng.standard_normal((len(free), 3))

        def left(h):
            new = nodes[0].copy()
            new[free] += h * shift
            found = problem.evaluate(Mixed(move(carrier.tree, d, h * step), np.zeros(0), [new]))
            return np.concatenate([found.left, found.gradients[0][free].ravel()])

        h = 1e-4
        slope = (8.0 * (left(h) - left(-h)) - left(2 * h) + left(-2 * h)) / (12.0 * h)
        half, full = model.halves[0], np.zeros_like(nodes[0])
        full[free] = shift
        inner = half.multiply(blocks, full)[free].ravel()
        expected = np.concatenate([matrix @ step + cross @ shift.ravel(), cross.T @ step + inner])
        scale = np.concatenate([1.0 / carrier.tree.scale, np.full(3 * len(free), half.size)])
        assert np.abs(scale * (expected - slope)).max() < 1e-7 * np.abs(scale * slope).max()


def test_what_motions_with_volumes_cannot_do_yet_is_refused():
    robot, _ = flyer()
    for name, value in (("error", 1e-3), ("checkpoint", "run.ckpt")):
        with pytest.raises(DescriptionError, match=f"{name} is not available"):
            ag.simulate(robot, duration=0.02, dt=1e-2, **{name: value})
    with pytest.raises(DescriptionError, match="Midpoint"):
        ag.simulate(robot, duration=0.02, dt=1e-2, method="midpoint")
    robot.load(ag.Contact(robot.part("arm"), ag.HalfSpace((0, 0, 1), -1.0), stiffness=1e3))
    with pytest.raises(DescriptionError, match="contact"):
        ag.simulate(robot, duration=0.02, dt=1e-2)


def test_a_step_that_is_long_for_what_is_let_go_is_found_with_care():
    robot = ag.Robot("finger")
    soft = ag.Material(young=2e5, poisson=0.4, density=1070.0, damping=0.01)
    arm = robot.add(rod(0.1, soft, modes=2), at=robot.ground)
    finger = ag.Volume(fem.finger((0.1, 0.02, 0.02), wall=2e-3, offset=3e-3, cells=(8, 1, 1)), soft, name="finger")
    finger.actuate("air", fem.Chamber("chamber"))
    end = robot.add(finger, at=arm.tip, patch="base").frame("end", "tip")
    rest = ag.statics(robot, inputs={"finger.air": 5e3})
    run = ag.simulate(robot, duration=0.04, dt=0.01, start=rest)
    assert run.status.success
    assert np.linalg.norm(run.position(end)[-1] - rest.position(end)) > 1e-3
