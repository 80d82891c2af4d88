"""Rods, bodies and soft volumes in one robot at rest, against beams, single volumes, composites and differences."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem
from anguilla.errors import AnguillaWarning, DescriptionError
from anguilla.mixed.model import MixedModel
from anguilla.mixed.statics import Mixed, coupled, opened
from anguilla.model.user import move

SOFT = ag.Material(young=1e6, poisson=0.0, density=1000.0)
LENGTH, THICK = 0.1, 0.01


def bar(length: float = LENGTH, cells: int = 8, element: str = "quadratic", material: ag.Material = SOFT) -> ag.Volume:
    """A square bar along x, with the sets "base" and "tip"."""
    return ag.Volume(fem.block((length, THICK, THICK), (cells, 2, 2)), material, element=element)


def rod(length: float = LENGTH, material: ag.Material = SOFT, thick: float = THICK) -> ag.Rod:
    return ag.Rod(length, ag.Rectangle(thick, thick), material, strains=ag.reissner(4))


def test_a_volume_on_the_tip_of_a_rod_bends_like_one_rod_and_like_one_volume():
    robot = ag.Robot("halves")
    first = robot.add(rod(), at=robot.ground)
    half = robot.add(bar(), at=first.tip, patch="base")
    end = half.frame("end", "tip")
    robot.load(ag.Wrench(end, force=(0.0, 0.0, -2e-3)))
    found = ag.statics(robot)

    alone = ag.Robot("rod")
    whole = alone.add(rod(2 * LENGTH), at=alone.ground)
    alone.load(ag.Wrench(whole.tip, force=(0.0, 0.0, -2e-3)))
    expected = ag.statics(alone)
    sag = abs(expected.position(whole.tip)[2])
    assert sag > 0.3 * LENGTH  # far beyond small angles
    assert np.linalg.norm(found.position(end) - expected.position(whole.tip)) < 1e-3 * sag
    middle = expected.position(whole.section(LENGTH))
    assert np.linalg.norm(found.position(first.tip) - middle) < 1e-3 * np.linalg.norm(middle[2])

    body = fem.SoftBody("volume", fem.block((2 * LENGTH, THICK, THICK), (16, 2, 2)), SOFT, element="quadratic")
    body.fix("base")
    body.rigid("end", "tip")
    body.effector("tip", (2 * LENGTH, 0.0, 0.0))
    body.load(fem.PointForce((2 * LENGTH, 0.0, 0.0), (0.0, 0.0, -2e-3)))
    tip = fem.statics(body).position("tip")
    assert np.linalg.norm(found.position(end) - tip) < 5e-3 * sag
    assert np.allclose(found.volume(half).points[half.volume.mesh.nodes["tip"]].mean(axis=0), found.position(end))


def test_a_volume_pulled_between_two_bodies_is_a_spring_of_its_axial_stiffness():
    robot = ag.Robot("spring", gravity=(0.0, 0.0, 0.0))
    cube = ag.RigidBody(1.0, inertia=(1.0, 1.0, 1.0))
    left = robot.add(cube, at=robot.ground, joint=ag.Prismatic(axis=(1, 0, 0), stiffness=50.0), name="left")
    right = robot.add(cube, at=robot.ground, joint=ag.Prismatic(axis=(1, 0, 0)), pose=(LENGTH, 0, 0), name="right")
    pad = robot.add(bar(element="linear"), at=left.frame, patch="base")
    pad.clamp("tip", right.frame)
    force = 0.01
    robot.load(ag.Wrench(right.frame, force=(force, 0.0, 0.0)))
    found = ag.statics(robot)
    stiff = SOFT.young * THICK**2 / LENGTH
    assert found.q == pytest.approx([force / 50.0, force / 50.0 + force / stiff], rel=1e-4)
    assert np.allclose(found.volume("volume").reaction(), 0.0, atol=1e-12)  # both ends together


def test_a_rod_in_the_middle_of_a_block_bends_as_their_stiffnesses_together():
    steel = ag.Material(young=4e8, poisson=0.0, density=1000.0)
    thin, force = THICK / 4, (0.0, 0.0, -1e-3)
    robot = ag.Robot("spine", gravity=(0.0, 0.0, 0.0))
    spine = robot.add(rod(2 * LENGTH, steel, thin), at=robot.ground)
    flesh = robot.add(bar(2 * LENGTH, 16), at=robot.ground, patch="base")
    flesh.clamp("tip", spine.tip)
    flesh.embed(spine)
    robot.load(ag.Wrench(spine.tip, force=force))
    found = ag.statics(robot)
    bending = (SOFT.young * THICK**4 + steel.young * thin**4) / 12.0
    shear = (SOFT.young * THICK**2 + steel.young * thin**2) / 2.0 * 5.0 / 6.0
    length = 2 * LENGTH
    expected = force[2] * (length**3 / (3.0 * bending) + length / shear)
    assert SOFT.young * THICK**4 / 12.0 / bending == pytest.approx(0.39, abs=0.01)  # both matter
    assert found.position(spine.tip)[2] == pytest.approx(expected, rel=5e-3)


def test_a_volume_that_moves_alone_beside_a_fixed_body_is_the_body_alone():
    robot = ag.Robot("table")
    robot.add(ag.RigidBody.box((0.1, 0.1, 0.01), mass=1.0), at=robot.ground, pose=(0, 0, -0.1))
    pad = bar(cells=4)
    pad.actuate("pull", fem.Tendon([(0.0, 0.0, 0.004), (LENGTH, 0.0, 0.004)]))
    robot.add(pad, at=robot.ground, patch="base", name="pad")
    found = ag.statics(robot, inputs={"pad.pull": 0.02})
    body = fem.SoftBody("alone", pad.mesh, SOFT, element="quadratic")
    body.fix("base")
    body.actuate("pull", fem.Tendon([(0.0, 0.0, 0.004), (LENGTH, 0.0, 0.004)]))
    alone = fem.statics(body, inputs={"pull": 0.02})
    assert np.abs(alone.x - alone.system.rest.x).max() > 0.1 * LENGTH
    assert np.allclose(found.volume("pad").x, alone.x, rtol=0, atol=1e-10)


def test_rods_beside_a_block_make_a_sandwich_in_a_loop():
    stiff = ag.Material(young=2e8, poisson=0.0, density=1000.0)
    thin, away, moment = 1e-3, 0.02, 1e-3  # no rod buckles
    robot = ag.Robot("sandwich", gravity=(0.0, 0.0, 0.0))
    rods = [robot.add(rod(LENGTH, stiff, thin), at=robot.ground, pose=(0, 0, z), name=f"r{k}")
            for k, z in enumerate((away, -away))]  # fmt: skip
    plate = robot.add(ag.RigidBody(0.1, inertia=(1e-4, 1e-4, 1e-4)), at=rods[0].tip, pose=(0, 0, -away), name="plate")
    robot.close(plate.at((0.0, 0.0, -away)), rods[1].tip)
    core = robot.add(bar(), at=robot.ground, patch="base")
    core.clamp("tip", plate.frame)
    robot.load(ag.Wrench(plate.frame, moment=(0.0, moment, 0.0)))
    found = ag.statics(robot)
    area, soft = stiff.young * thin**2, SOFT.young * THICK**4 / 12.0
    bending = 2.0 * (area * away**2 + stiff.young * thin**4 / 12.0) + soft
    angle = np.arcsin(-found.pose(plate.frame)[2, 0])
    assert soft / bending > 0.004
    assert angle == pytest.approx(moment * LENGTH / bending, rel=2e-3)


def test_what_holds_a_mixed_robot_carries_its_whole_weight():
    robot = ag.Robot("heavy")
    first = robot.add(rod(0.05), at=robot.ground)
    pad = robot.add(bar(0.05, 4), at=first.tip, patch="base")
    end = pad.frame("end", "tip")
    robot.add(ag.RigidBody(0.01, inertia=(1e-6, 1e-6, 1e-6)), at=end)
    found = ag.statics(robot)
    mass = 2 * 0.05 * THICK**2 * SOFT.density + 0.01
    force = found.wrench(first, [0.0])[0, 3:]
    assert np.linalg.norm(force) == pytest.approx(mass * 9.81, rel=1e-6)
    assert found.volume("volume").balance < 1e-6


def rich() -> ag.Robot:
    """A robot with everything that enters the tangent: a ball, a loop, two volumes, a chamber, a tendon, a driven joint."""
    robot = ag.Robot("rich")
    arm = robot.add(rod(0.05), at=robot.ground, name="arm")
    hinge = robot.add(ag.RigidBody(0.01, inertia=(1e-6, 1e-6, 1e-6)), at=arm.tip, joint=ag.Spherical(), name="ball")
    pad = bar(0.04, 2, "linear", ag.Material(young=1e5, poisson=0.3, density=1000.0))
    pad.actuate(
        "pull", fem.Tendon([(0.0, 0.0, 0.004), (0.02, 0.0, 0.004), (0.04, 0.0, 0.004)], origin=(-0.1, 0.0, 0.1))
    )
    pad.actuate("blow", fem.Chamber(pad.mesh.boundary))
    one = robot.add(pad, at=arm.tip, patch="base", name="one")
    one.clamp("tip", hinge.at((0.0, 0.001, 0.0)), (0.002, 0.001, 0.0))
    two = robot.add(bar(0.04, 2, "quadratic"), at=hinge.frame, patch=[0, 1, 2, 3], name="two")
    end = two.frame("end", "tip")
    leg = robot.add(rod(0.03), at=end, name="leg")
    robot.close(robot.ground, leg.tip, joint=ag.Spherical(), pose=(0.1205, 0.002, 0.002))
    robot.load(ag.Wrench(end, force=(0.0, 0.01, 0.02), moment=(0.0, 1e-3, 0.0), follower=True))
    return robot


def residual(problem, state: Mixed, free: list) -> np.ndarray:
    at = problem.evaluate(Mixed(state.q, state.lam, [x.copy() for x in state.x]))
    return np.concatenate([at.left, *(g[f].ravel() for g, f in zip(at.gradients, free, strict=True))])


def test_the_tangent_of_the_whole_is_the_derivative_of_its_residual():
    model = MixedModel(rich())
    rng = np.random.default_rng(3)
    with ExitStack() as desks:
        problem, state, _ = opened(model, desks, {"one.pull": 0.05, "one.blow": 200.0}, None, 0.0)
        n, m = problem.carrier.size, problem.carrier.rows
        free = [half.free for half in model.halves]
        q = move(problem.carrier.tree, state.q, 0.05 * rng.standard_normal(n) / problem.carrier.tree.scale)
        x = [nodes + 2e-4 * rng.standard_normal(nodes.shape) for nodes in state.x]
        state = Mixed(q, 0.01 * rng.standard_normal(m), x)
        at = problem.evaluate(state)
        matrix = at.carrier.bordered()
        seams = coupled(model, matrix, at)
        sizes = [3 * len(f) for f in free]
        whole = np.zeros((n + m + sum(sizes),) * 2)
        whole[: n + m, : n + m] = matrix
        begin = n + m
        for half, blocks, seam, size in zip(model.halves, at.blocks, seams, sizes, strict=True):
            own = slice(begin, begin + size)
            inner, first = whole[own, own], half.system.unknowns.first
            for k, block in zip(half.system.inner, blocks[half.system.inner], strict=True):
                i, j = 3 * first[half.system.pattern.rows[k]], 3 * first[half.system.pattern.cols[k]]
                inner[i : i + 3, j : j + 3] = block.reshape(3, 3)
                inner[j : j + 3, i : i + 3] = block.reshape(3, 3).T
            whole[:n, own], whole[own, :n] = seam.J.T @ seam.cross, seam.cross.T @ seam.J
            begin += size
        size = np.concatenate([1.0 / problem.carrier.tree.scale, np.ones(m), np.full(sum(sizes), model.halves[0].size)])
        for _ in range(6):  # random directions: a wrong entry shows in all of them
            step = size * rng.standard_normal(len(whole))

            def moved(h, step=step):
                begin, nodes = n + m, []
                for old, f in zip(state.x, free, strict=True):
                    new = old.copy()
                    new[f] += h * step[begin : begin + 3 * len(f)].reshape(-1, 3)
                    begin += 3 * len(f)
                    nodes.append(new)
                q = move(problem.carrier.tree, state.q, h * step[:n])
                return residual(problem, Mixed(q, state.lam + h * step[n : n + m], nodes), free)

            h = 1e-5
            slope = (8.0 * (moved(h) - moved(-h)) - moved(2 * h) + moved(-2 * h)) / (12.0 * h)
            assert np.abs(whole @ step - slope).max() < 1e-7 * np.abs(slope).max()


def test_an_equilibrium_of_the_rich_robot_is_the_same_from_another_start():
    robot = rich()
    inputs = {"one.pull": 0.02, "one.blow": 100.0}
    found = ag.statics(robot, inputs=inputs)
    other = ag.statics(robot, inputs=inputs, start=ag.statics(robot, inputs={"one.pull": 0.04}))
    assert np.allclose(other.q, found.q, atol=1e-7)
    assert np.allclose(other.volume("two").x, found.volume("two").x, atol=1e-9)
    assert found.volume("one").inputs == {"pull": 0.02, "blow": 100.0}


def test_a_joint_that_is_driven_takes_the_volume_along():
    robot = ag.Robot("wrist", gravity=(0.0, 0.0, 0.0))
    wrist = robot.add(ag.RigidBody(0.1, inertia=(1e-4, 1e-4, 1e-4)), at=robot.ground,
                      joint=ag.Revolute(axis=(0, 0, 1), motion=lambda t: 0.7))  # fmt: skip
    pad = robot.add(bar(element="linear"), at=wrist.frame, patch="base")
    end = pad.frame("end", "tip")
    found = ag.statics(robot)
    assert found.position(end) == pytest.approx(LENGTH * np.array([np.cos(0.7), np.sin(0.7), 0.0]), abs=1e-12)
    assert found.volume(pad).elastic_energy == pytest.approx(0.0, abs=1e-20)


def test_a_soft_column_beyond_its_critical_load_is_said_to_be_unstable():
    robot = ag.Robot("column", gravity=(0.0, 0.0, 0.0))
    first = robot.add(rod(), at=robot.ground)
    pad = robot.add(bar(), at=first.tip, patch="base")
    end = pad.frame("end", "tip")
    critical = np.pi**2 * SOFT.young * THICK**4 / 12.0 / (2 * LENGTH * 2) ** 2
    push = robot.load(ag.Wrench(end, force=(-0.95 * critical, 0.0, 0.0)))
    assert ag.statics(robot).status.counters["unstable"] == 0
    push.force = (-1.05 * critical, 0.0, 0.0)
    with pytest.warns(AnguillaWarning, match="would not stay"):
        assert ag.statics(robot).status.counters["unstable"] == 2


def test_what_does_not_take_volumes_yet_says_so():
    robot = ag.Robot("mixed")
    first = robot.add(rod(), at=robot.ground)
    robot.add(bar(element="linear"), at=first.tip, patch="base")
    found = ag.statics(robot)
    doors = [
        lambda: ag.Model(robot), lambda: ag.stability(robot),
        lambda: ag.mass_matrix(robot, np.zeros(24)),
        lambda: ag.shooting.statics(robot), lambda: ag.linearise(robot, found),
        lambda: ag.sensitivities(found),
        lambda: ag.BatchStepper(robot, copies=2, dt=1e-3),
        lambda: ag.control.RodModel(robot, effectors={"tip": first.tip}),
        lambda: ag.simulate_explicit(robot, duration=0.1, dt=1e-3), lambda: ag.trace(robot, factors=(0, 1)),
    ]  # fmt: skip
    for door in doors:
        with pytest.raises(DescriptionError, match="soft volumes"):
            door()


def test_wrong_descriptions_are_refused():
    robot = ag.Robot("mixed")
    first = robot.add(rod(), at=robot.ground)
    with pytest.raises(DescriptionError, match=r"ag\.Volume"):
        robot.add(fem.SoftBody("bar", bar().mesh, SOFT), at=first.tip)
    with pytest.raises(DescriptionError, match="takes no joint"):
        robot.add(bar(), at=first.tip, joint=ag.Revolute(axis=(0, 0, 1)))
    pad = robot.add(bar(element="linear"), at=first.tip)
    with pytest.raises(DescriptionError, match="Nothing holds volume 'volume'"):
        ag.statics(robot)
    pad.clamp("base", first.tip)
    with pytest.raises(DescriptionError, match="already welded"):
        pad.clamp("base", robot.ground)
    with pytest.raises(DescriptionError, match="not on one line"):
        pad.frame("end", pad.volume.mesh.nodes["tip"][:2])
    with pytest.raises(DescriptionError, match="no input 'pull'"):
        ag.statics(robot, inputs={"pull": 1.0})
    with pytest.raises(DescriptionError, match="no point of the mesh lies on the axis"):
        pad.embed(first, (0.0, 0.001, 0.0))
    pad.volume.fix("tip")
    with pytest.raises(DescriptionError, match="not fixed"):
        ag.statics(robot)


def test_energy_and_mass_count_the_volumes():
    robot = ag.Robot("heavy")
    first = robot.add(rod(), at=robot.ground)
    pad = robot.add(bar(element="linear"), at=first.tip, patch="base")
    end = pad.frame("end", "tip")
    load = robot.load(ag.Wrench(end, force=(0.0, 0.0, 0.0)))
    mass = 2 * LENGTH * THICK**2 * SOFT.density
    before = ag.statics(robot)
    assert before.mass == pytest.approx(mass)
    robot.gravity = (0.0, 0.0, 0.0)
    force, work, last = np.linspace(0.0, 1e-3, 5), 0.0, None
    for k, f in enumerate(force):  # the work of a slowly growing force is what the elastic energy gains
        load.force = (0.0, 0.0, f)
        found = ag.statics(robot)
        if last is not None:
            work += 0.5 * (f + force[k - 1]) * (found.position(end)[2] - last)
        last = found.position(end)[2]
    assert found.energy["elastic"] == pytest.approx(work, rel=1e-3)
    assert found.energy["total"] == pytest.approx(found.energy["elastic"])
