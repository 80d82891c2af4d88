"""Statics by shooting against the strain-mode core, closed forms and another formulation."""

import numpy as np
import pytest
from scipy.integrate import solve_bvp
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc
from shooting_cases import loose_robot, paper_rod, random_case

import anguilla as ag
from anguilla import shooting


@pytest.mark.parametrize("seed", range(10))
def test_ten_random_rods_agree_with_the_core(seed):
    robot, arm, inputs = random_case(seed)
    ours, core = shooting.statics(robot, inputs=inputs), ag.statics(robot, inputs=inputs)
    X = np.linspace(0, arm.length, 4)
    error = np.linalg.norm(ours.centerline(arm, 9) - core.centerline(arm, 9), axis=1)
    assert np.max(error) < 1e-8 * arm.length
    size = np.max(np.abs(core.wrench(arm, X)), axis=0)
    assert np.max(np.abs(ours.wrench(arm, X) - core.wrench(arm, X))[:, 3:]) < 1e-7 * np.max(size[3:])
    assert np.max(np.abs(ours.wrench(arm, X) - core.wrench(arm, X))[:, :3]) < 1e-7 * np.max(size[:3])
    assert np.max(np.abs(ours.strain(arm, X) - core.strain(arm, X))) < 1e-4  # [1/m]; of the core's 90 intervals
    bent = (ours.strain(arm, X) - arm.rod.rest.strain(X))[:, :3]
    assert np.max(np.linalg.norm(bent, axis=1)) * arm.length > 0.5  # [rad]


def elastica(slope):
    """Load P l^2 / EI and tip (x, y) / l of a clamped rod along x under a dead force along y, from its slope at the tip."""
    m = 0.5 * (1 + np.sin(slope))
    phi = np.arcsin(1 / np.sqrt(2 * m))
    root = ellipk(m) - ellipkinc(phi, m)
    return root**2, np.array([np.sqrt(2 * np.sin(slope)) / root, 1 - 2 / root * (ellipe(m) - ellipeinc(phi, m))])


@pytest.mark.parametrize("solver", ["newton", "levenberg"])
@pytest.mark.parametrize("shoots", [1, 4])
def test_elastica(shoots, solver):
    load, tip = elastica(1.2)
    robot = ag.Robot(gravity=(0, 0, 0))
    arm = robot.add(paper_rod(), at=robot.ground)
    EI = arm.rod.hooke([0.0])[0, 2]
    robot.load(ag.TipWrench(arm, force=(0, load * EI / 0.4**2, 0)))
    shape = shooting.statics(robot, shoots=shoots, intervals=30, solver=solver)
    assert np.allclose(shape.position(arm.tip)[:2] / 0.4, tip, atol=1e-10)


def test_the_error_falls_with_the_sixth_power():
    load, tip = elastica(1.4)
    robot = ag.Robot(gravity=(0, 0, 0))
    arm = robot.add(paper_rod(), at=robot.ground)
    robot.load(ag.TipWrench(arm, force=(0, load * arm.rod.hooke([0.0])[0, 2] / 0.4**2, 0)))
    errors = []
    for n in (4, 8, 16):
        shape = shooting.statics(robot, shoots=1, intervals=n)
        errors.append(np.linalg.norm(shape.position(arm.tip)[:2] / 0.4 - tip))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(orders > 5.5), (errors, orders)


def test_pure_bending_by_a_follower_moment_over_three_turns():
    robot = ag.Robot(gravity=(0, 0, 0))
    arm = robot.add(paper_rod(), at=robot.ground)
    EI = arm.rod.hooke([0.0])[0, 1]
    K = 6 * np.pi / 0.4
    robot.load(ag.TipWrench(arm, moment=(0, K * EI, 0), follower=True))
    shape = shooting.statics(robot, intervals=120)
    assert shape.status.counters["load_steps"] > 1  # 2 rad at once are refused
    assert np.allclose(shape.position(arm.tip), 0, atol=1e-8)
    assert np.allclose(shape.strain(arm)[:, 1], K, rtol=1e-10)


def test_everything_at_once_agrees_with_the_core():
    robot, _ = loose_robot(jumps=False, modes=10)  # modes over the whole rod cannot follow jumps inside
    for part in robot.parts:
        if isinstance(part, ag.RodHandle):
            part.rod.intervals = 60
    ours, core = shooting.statics(robot, inputs={"pull": 2.0}), ag.statics(robot, inputs={"pull": 2.0})
    for part in robot.parts:
        frame = part.tip if isinstance(part, ag.RodHandle) else part.frame
        assert np.allclose(ours.pose(frame), core.pose(frame), atol=1e-8)
    assert np.allclose(ours.joints["rod"][0], core["rod.angle"], atol=1e-8)
    assert np.allclose(ours.joints["rod_2"], [core["rod_2.angle_1"], core["rod_2.angle_2"]], atol=1e-8)


def test_tendons_of_two_sections_in_series():
    robot = ag.Robot(gravity=(0, 0, -9.81))
    rod = ag.Rod(0.2, ag.Circle(0.006), ag.Material(2e6, 1100, 0.45), ag.kirchhoff(10), intervals=100)
    a = robot.add(rod, at=robot.ground)
    b = robot.add(rod, at=a.tip)
    robot.actuate("far", ag.Tendon([a, b], ag.parallel(y=0.01)))
    robot.actuate("near", ag.Tendon(a, ag.parallel(z=-0.01), span=(0.0, 0.15)))
    inputs = {"far": 4.0, "near": 3.0}
    ours, core = shooting.statics(robot, inputs=inputs), ag.statics(robot, inputs=inputs)
    assert np.linalg.norm(ours.position(b.tip) - core.position(b.tip)) < 1e-4 * 0.4  # the modes cannot follow the jump
    # the strong form can: beyond the end of the near tendon only the far one bends
    K = ours.strain(a, [0.149, 0.151])[:, 1]
    assert abs(K[0] - K[1]) > 0.9 * 3.0 * 0.01 / rod.hooke([0.0])[0, 1]


def two_legs(distance, force):
    """Two planar legs clamped at +-distance/2, tips joined by a pin and loaded: an independent formulation for solve_bvp.

    Each leg: theta' = M/EI, M' = Nx sin(theta) - Ny cos(theta), x' = cos, y' = sin, forces constant along a leg.
    """
    EI, l = 0.02, 1.0

    def rates(s, y, p):
        out = []
        forces = (p[:2], np.asarray(force) - p[:2])
        for leg, (fx, fy) in enumerate(forces):
            th, m = y[4 * leg], y[4 * leg + 1]
            out += [m / EI, fx * np.sin(th) - fy * np.cos(th), np.cos(th), np.sin(th)]
        return np.array(out) * l

    def ends(a, b, p):
        start = [a[0] - np.pi / 2 - 0.3, a[2] + distance / 2, a[3], a[4] - np.pi / 2 + 0.3, a[6] - distance / 2, a[7]]
        return np.array([*start, b[1], b[5], b[2] - b[6], b[3] - b[7]])

    s = np.linspace(0, 1, 41)
    guess = np.zeros((8, 41))
    guess[0], guess[4] = np.pi / 2 + 0.3 - s, np.pi / 2 - 0.3 + s
    guess[1], guess[5] = -EI, EI
    guess[2], guess[3], guess[6], guess[7] = -distance / 2 * (1 - s), s, distance / 2 * (1 - s), s
    answer = solve_bvp(rates, ends, s, guess, p=np.zeros(2), tol=1e-10, bc_tol=1e-12, max_nodes=20000)
    assert answer.success, answer.message
    return answer


def test_parallel_robot_against_one_boundary_value_problem():
    distance, force = 0.5, (0.03, -0.05)
    radius = 0.005
    material = ag.Material(young=0.02 / (np.pi * radius**4 / 4), poisson=0.3, density=1000)
    robot = ag.Robot("two_legs", gravity=(0, 0, 0))
    legs = []
    for side in (-1, 1):
        pose = np.eye(4)
        angle = np.pi / 2 - 0.3 * side
        pose[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        pose[0, 3] = side * distance / 2
        legs.append(robot.add(ag.Rod(1.0, ag.Circle(radius), material, ag.kirchhoff(6)), at=robot.ground, pose=pose))
    robot.load(ag.TipWrench(legs[0], force=(*force, 0)))
    pin = shooting.Join(legs[1].tip, legs[0].tip, ag.Spherical())
    shape = shooting.statics(robot, ties=[pin])
    exact = two_legs(distance, force)
    assert np.linalg.norm(shape.position(legs[0].tip)[:2] - exact.y[2:4, -1]) < 1e-8
    assert np.linalg.norm(shape.position(legs[1].tip) - shape.position(legs[0].tip)) < 1e-11
    X = np.linspace(0, 1, 21)
    for leg in (0, 1):
        moment = shape.wrench(legs[leg], X)[:, 2]
        assert np.allclose(moment, exact.sol(X)[4 * leg + 1], atol=1e-9)
    # the force of the pin on leg 1, in world axes
    on_leg = shape.pose(legs[0].tip)[:3, :3] @ shape.reactions[0][3:]
    assert np.allclose(on_leg[:2], np.asarray(force) - exact.p, atol=1e-9)


def test_parallel_robot_against_the_core():
    # three legs in space on a plate, held by ball joints: multiple shooting and strain modes with multipliers
    material = ag.Material(young=2e8, poisson=0.3, density=1000)
    robot = ag.Robot("three_legs", gravity=(0, 0, 0))
    legs, rod = [], ag.Rod(0.4, ag.Circle(0.004), material, ag.kirchhoff(9), intervals=40)
    for k in range(3):
        angle = 2 * np.pi * k / 3
        pose = np.eye(4)
        pose[:3, :3] = np.array([[0, -np.sin(angle), np.cos(angle)], [0, np.cos(angle), np.sin(angle)], [-1, 0, 0]])
        pose[:3, :3] = pose[:3, [0, 1, 2]] @ np.diag([-1.0, 1.0, -1.0])  # the rod points up
        pose[:3, 3] = 0.1 * np.cos(angle), 0.1 * np.sin(angle), 0.0
        legs.append(robot.add(rod, at=robot.ground, pose=pose))
    robot.load(ag.TipWrench(legs[0], force=(0.3, 0.2, -0.2), moment=(0.0, 0.01, 0.02)))
    ties, closures = [], []
    for k in (1, 2):
        reach = np.eye(4)
        start = [np.linalg.inv(legs[0].pose) @ leg.pose for leg in (legs[0], legs[k])]
        reach[:3, 3] = (np.linalg.inv(start[0]) @ start[1])[:3, 3]  # the plate: fixed to the first leg
        ties.append(shooting.Join(legs[k].tip, legs[0].tip.offset_by(reach), ag.Spherical()))
        closures.append((legs[k].tip, legs[0].tip.offset_by(reach)))
    ours = shooting.statics(robot, ties=ties)
    for a, b in closures:
        robot.close(b, a, joint=ag.Spherical())
    core = ag.statics(robot, tolerance=1e-12)
    for leg in legs:
        assert np.linalg.norm(ours.position(leg.tip) - core.position(leg.tip)) < 1e-6 * 0.4
    assert np.linalg.norm(core.position(legs[0].tip) - (0.1, 0.0, 0.4)) > 0.01


def test_held_tips():
    robot = ag.Robot(gravity=(0, 0, 0))
    arm = robot.add(paper_rod(young=1e9), at=robot.ground)
    # the pose a known load produces, then prescribed: the reaction is that load
    load = robot.load(ag.TipWrench(arm, force=(0.01, 0.02, 0.015), moment=(2e-4, -1e-3, 1e-3)))
    free = shooting.statics(robot)
    load.force = load.moment = (0, 0, 0)
    held = shooting.statics(robot, ties=[shooting.Hold(arm.tip, free.pose(arm.tip))])
    assert np.allclose(held.pose(arm.tip), free.pose(arm.tip), atol=1e-10)
    R = free.pose(arm.tip)[:3, :3]
    assert np.allclose(R @ held.reactions[0][3:], (0.01, 0.02, 0.015), atol=1e-9)
    assert np.allclose(R @ held.reactions[0][:3], (2e-4, -1e-3, 1e-3), atol=1e-10)
    # mixed: a given position, no moment
    point = free.position(arm.tip)
    pinned = shooting.statics(robot, ties=[shooting.Hold(arm.tip, point)])
    assert np.allclose(pinned.position(arm.tip), point, atol=1e-11)
    assert np.allclose(pinned.wrench(arm, [0.4])[0, :3], 0, atol=1e-10)
    hinge = shooting.statics(robot, ties=[shooting.Hold(arm.tip, free.pose(arm.tip), ag.Revolute(axis=(0, 0, 1)))])
    assert abs(hinge.wrench(arm, [0.4])[0, 2]) < 1e-10 < abs(hinge.wrench(arm, [0.4])[0, 1])


def test_the_strain_form_agrees():
    robot, arm, inputs = random_case(3)
    shape = shooting.statics(robot, inputs=inputs)
    errors = []
    for n in (10, 20):
        other = shooting.strain_form(robot, inputs=inputs, intervals=n)
        errors.append(np.linalg.norm(shape.position(arm.tip) - other.position[-1]) / arm.length)
    assert errors[1] < 1e-6
    assert np.log2(errors[0] / errors[1]) > 3.5
    assert np.allclose(shape.strain(arm, other.X), other.strain, atol=2e-5)


def test_tendons_frozen_at_the_rest_strain():
    robot = ag.Robot(gravity=(0, 0, 0))
    arm = robot.add(paper_rod(), at=robot.ground)
    robot.actuate("straight", ag.Tendon(arm, ag.parallel(y=0.01)))
    robot.actuate("spiral", ag.Tendon(arm, ag.helical(0.02, 0.4)))
    # a parallel tendon does not notice (003, after (17))
    a, b = (shooting.statics(robot, inputs={"straight": 10}, follow_strain=f).position(arm.tip) for f in (True, False))
    assert np.allclose(a, b, atol=1e-12)
    a, b = (shooting.statics(robot, inputs={"spiral": 60}, follow_strain=f).position(arm.tip) for f in (True, False))
    assert 1e-4 < np.linalg.norm(a - b) < 0.02


def test_errors_are_told():
    robot = ag.Robot()
    arm = robot.add(paper_rod(), at=robot.ground)
    with pytest.raises(ag.DescriptionError, match="no actuator 'pull'"):
        shooting.statics(robot, inputs={"pull": 1.0})
    with pytest.raises(ag.DescriptionError, match="solver must be one of"):
        shooting.statics(robot, solver="magic")
    with pytest.raises(ag.DescriptionError, match="shoots must be"):
        shooting.statics(robot, shoots=0)
    with pytest.raises(ag.DescriptionError, match="a frame such as"):
        shooting.Hold(arm, np.eye(4))
    with pytest.raises(ag.DescriptionError, match="Spherical"):
        shooting.Join(arm.tip, robot.ground, ag.Free())
    with pytest.raises(ag.DescriptionError, match="has no rod"):
        shooting.statics(ag.Robot())
    floating = ag.Robot()
    floating.add(paper_rod(), at=floating.ground, joint=ag.Free())
    with pytest.raises(ag.DescriptionError, match="floats"):
        shooting.statics(floating)
    robot.load(ag.TipWrench(arm, force=(-5.0, 0.0, 1e5)))
    with pytest.raises(ag.SolverError, match="of the load") as caught:
        shooting.statics(robot, iterations=2)
    assert not caught.value.result.status.success
    assert np.all(np.isfinite(caught.value.result.position(arm.tip)))
