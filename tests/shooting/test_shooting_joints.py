"""Joints in motion by shooting: derivatives against differences, motions against the core, closed forms."""

import numpy as np
import pytest
from test_shooting_derivatives import check

import anguilla as ag
from anguilla import lie, shooting
from anguilla.shooting.balance import balance
from anguilla.shooting.jointing import joint_residual
from anguilla.shooting.joints import JointStep, imposed, imposed_values, joint_moved, joint_pose
from anguilla.shooting.kinematics import reconstruct
from anguilla.shooting.loop import Loop
from anguilla.shooting.problem import BoundaryProblem

SECOND = {
    "universal": ag.Universal(
        (0, 1, 0), (0, 0.2, 1), stiffness=(0.1, 0.05), damping=(0.01, 0.01), effort=(0.003, -0.004)
    ),
    "spherical": ag.Spherical(effort=lambda t: (1e-3 * np.sin(8 * t), 2e-3 * t, 1e-3)),
    "cylindrical": ag.Cylindrical(axis=(1, 0, 0.3), stiffness=(20.0, 0.05), damping=(0.5, 0.005)),
    "imposed": ag.Universal((0, 1, 0), (0, 0.2, 1), damping=0.0, motion=(lambda t: 0.3 * np.sin(10 * t) ** 3, None)),
    "free": ag.Free(),
}


def jointed_arm(kind):
    """A rod on a hinge, a body at its tip, and a second rod behind another joint."""
    robot = ag.Robot(kind, gravity=(0.5, -0.3, -9.81))
    material = ag.Material(young=1e6, poisson=0.4, density=1100, damping=0.02)
    hinge = ag.Revolute(axis=(0, 1, 0.3), stiffness=0.3, damping=0.02, effort=lambda t: 0.05 * np.sin(9 * t))
    a = robot.add(ag.Rod(0.3, ag.Circle(0.012), material, ag.kirchhoff(6)), at=robot.ground, joint=hinge)
    box = robot.add(ag.RigidBody(0.05, (2e-5, 2e-5, 3e-5), com=(0.01, 0.02, 0.005)), at=a.tip)
    rod = ag.Rod(0.2, ag.Circle(0.01), material, ag.reissner(4))
    b = robot.add(rod, at=box.at((0.02, 0, 0.01)), joint=SECOND[kind])
    return robot, a, b


@pytest.mark.parametrize("kind", list(SECOND))
def test_derivatives_of_joints_in_motion(kind):
    robot, _, _ = jointed_arm(kind)
    problem = BoundaryProblem(robot, shoots=1, intervals=12, moving=True)
    loop = Loop(problem, 0.005, ag.Newmark(), True, None, 1e-10, 20)
    loop.begin(None)
    for _ in range(8):
        assert loop.advance() == ""
    check(problem, loop.u)


SLOW = ("universal", "cylindrical")


@pytest.mark.parametrize("kind", [pytest.param(k, marks=pytest.mark.slow) if k in SLOW else k for k in SECOND])
def test_joints_in_motion_agree_with_the_core(kind):
    robot, a, b = jointed_arm(kind)
    core = ag.simulate(robot, duration=0.1, dt=0.0005, every=8, method=ag.Newmark())
    errors = []
    for dt in (0.004, 0.002):
        ours = shooting.simulate(robot, duration=0.1, dt=dt, shoots=2, intervals=10, every=round(0.004 / dt))
        gaps = [np.max(np.linalg.norm(ours.position(f) - core.position(f), axis=1)) for f in (a.tip, b.tip)]
        errors.append(max(gaps))
    moved = np.max(np.linalg.norm(core.position(b.tip) - core.position(b.tip)[0], axis=1))
    assert moved > 0.04
    assert errors[1] < 1e-3 * moved and errors[0] > 2.0 * errors[1], (errors, moved)
    assert np.allclose(ours.joints["rod"][:, 0], core["rod.angle"], atol=2e-3)
    assert np.allclose(ours.effort(a)[1:, 0], 0.05 * np.sin(9 * ours.t[1:]), atol=1e-9)
    if kind == "imposed":
        effort = core.effort(b)[1:, 0]
        assert np.max(np.abs(ours.effort(b)[1:, 0] - effort)) < 1e-2 * np.max(np.abs(effort))
        assert np.allclose(ours.joints["rod_2"][:, 0], 0.3 * np.sin(10 * ours.t) ** 3, atol=1e-9)


def test_a_shaken_rod_follows_the_closed_form():
    # root moved across by A sin(wt): small vibrations, steady part w(X) A of a clamped-free beam in a moving frame
    robot = ag.Robot("shaken", gravity=(0, 0, 0))
    material = ag.Material(young=1e7, poisson=0.4, density=1000, damping=0.05)
    rod = ag.Rod(0.5, ag.Circle(0.02), material, ag.planar(5))
    size, w = 1e-3, 8.0
    shake = ag.Prismatic(axis=(0, 1, 0), motion=lambda t: size * np.sin(w * t) * (1 - np.exp(-5 * t)))
    arm = robot.add(rod, at=robot.ground, joint=shake)
    motion = shooting.simulate(robot, duration=2.4, dt=0.01, shoots=1, intervals=6)
    EI = rod.hooke([0.0])[0, 2] * (1 + 0.05j * w)
    mass, turning = rod.inertia([0.0])[0, [3, 2]]
    # EI w'''' + (rho I w^2) w'' - rho A w^2 w = 0: roots, with w(0) = A, w'(0) = 0 and no moment or force at the tip
    roots = np.sqrt(np.roots([EI, turning * w**2, -mass * w**2]).astype(complex))
    k = np.concatenate([roots, -roots])
    e = np.exp(k * 0.5)
    rows = [np.ones(4), k, k**2 * e, (EI * k**3 + turning * w**2 * k) * e]
    tip = np.linalg.solve(np.array(rows), [1, 0, 0, 0]) @ e
    late = motion.t > 1.6
    exact = size * np.imag(tip * np.exp(1j * w * motion.t[late]))
    assert abs(tip) > 1.3
    assert np.max(np.abs(motion.position(arm.tip)[late, 1] - exact)) < 0.01 * abs(tip) * size


def test_imposed_coordinates_at_rest():
    robot = ag.Robot("held", gravity=(0, 0, -9.81))
    material = ag.Material(young=1e6, poisson=0.4, density=1100)
    joint = ag.Universal((0, 1, 0), (0, 0, 1), stiffness=(0.1, 0.2), motion=(0.4, None))
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.012), material, ag.kirchhoff(10)), at=robot.ground, joint=joint)
    robot.load(ag.TipWrench(arm, force=(0.0, 0.1, 0.0)))
    ours, core = shooting.statics(robot), ag.statics(robot)
    assert np.linalg.norm(ours.position(arm.tip) - core.position(arm.tip)) < 1e-8 * 0.3
    assert ours.joints["rod"][0] == pytest.approx(0.4, abs=1e-12)
    assert np.allclose(ours.effort(arm), np.reshape(core.effort(arm), -1), atol=1e-8)
    # and from there in motion: nothing moves
    still = shooting.simulate(robot, duration=0.05, dt=0.01, start=ours)
    assert np.max(np.abs(still.position(arm.tip) - ours.position(arm.tip))) < 1e-8
    with pytest.raises(ag.DescriptionError, match="there are: rod"):
        ours.effort("rod")


def test_an_equilibrium_stays_where_it_is():
    robot = ag.Robot()
    joint = ag.Revolute(axis=(0, 1, 0), stiffness=0.5)
    rod = ag.Rod(0.3, ag.Circle(0.01), ag.Material(1e6, 1100, 0.4), ag.kirchhoff(12), intervals=60)
    arm = robot.add(rod, at=robot.ground, joint=joint)
    for start in (shooting.statics(robot), ag.statics(robot)):
        still = shooting.simulate(robot, duration=0.05, dt=0.005, start=start, shoots=2, intervals=24)
        assert np.max(np.abs(still.position(arm.tip) - start.position(arm.tip))) < 1e-7


def fast_step(part, seed=5):
    """A time step of a joint with rates and accelerations of several units, and its unknowns."""
    rng = np.random.default_rng(seed)
    n, a, b = part.joint.size, 0.02, 0.1
    step = JointStep(part, rng.standard_normal(n), a, b, *rng.standard_normal((2, n)), imposed_values(part, 0.3))
    return step, np.where(imposed(part), step.given[:, 0], step.past + a * 9.0 * rng.standard_normal(n))


@pytest.mark.parametrize("kind", list(SECOND))
def test_the_motion_of_a_joint_against_differences(kind):
    step, u = fast_step(jointed_arm(kind)[2])
    motion, _ = step.motion(u)
    q, v, a = step.end(u)
    balls = [isinstance(axis, ag.describe.Ball) for axis in step.part.joint.axes for _ in range(axis.size)]

    def pose(t):  # along the joint's own path: of a ball, omega(t) = v + a t to third order
        turn = v * t + a * t**2 / 2 + np.concatenate([np.zeros(len(v) - 3), np.cross(v[-3:], a[-3:])]) * t**3 / 12 \
            if any(balls) else v * t + a * t**2 / 2  # fmt: skip
        moved = joint_moved(step.part, q, np.where(balls, turn, 0.0))
        return joint_pose(step.part, np.where(balls, moved, q + v * t + a * t**2 / 2))[0]

    def twist(t, h=1e-4):
        return lie.log6(lie.inverse(pose(t - h)) @ pose(t + h)) / (2 * h)

    assert np.allclose(motion.pose, pose(0.0), atol=1e-12)
    assert np.allclose(motion.twist, twist(0.0), atol=1e-5)
    assert np.allclose(motion.rate, (twist(1e-3) - twist(-1e-3)) / 2e-3, atol=1e-3)
    assert np.linalg.norm(motion.rate) > 1.0
    for k in range(len(u)):  # derivatives by the unknowns
        h = 1e-6 * np.eye(len(u))[k]
        ahead, behind = (step.motion(u + s * h)[0] for s in (1, -1))
        column = lie.log6(lie.inverse(behind.pose) @ ahead.pose) / 2e-6
        assert np.allclose(column, motion.by_pose[:, k], atol=1e-7)
        assert np.allclose((ahead.twist - behind.twist) / 2e-6, motion.by_twist[:, k], atol=1e-5)
        assert np.allclose((ahead.rate - behind.rate) / 2e-6, motion.by_rate[:, k], atol=1e-4)


def test_segments_behind_joints_move_as_told():
    # the compiled continuity conditions against the composition of motions, with fast joints and a fast parent
    robot, _, _ = jointed_arm("universal")
    problem = BoundaryProblem(robot, shoots=1, intervals=6, moving=True)
    problem.load(0.0, None)
    u = problem.rest_guess()
    joints = {}
    for s, part in problem.jointed:
        problem.joint_steps[s], u.joints[s] = fast_step(part, seed=s)
        joints[s] = problem.joint_steps[s].motion(u.joints[s])[0]
    rng = np.random.default_rng(8)
    rates = rng.standard_normal((2, *problem.rest.shape)) * (problem.compliance > 0.0)
    reconstruct(problem, problem.rest, *rates, {}, u.start, joints)
    end = problem.end.copy()
    joint_residual(problem, u)
    balance(problem.nodes, u.start, end, problem.transfer, True, False, problem.residual, problem.values)
    rows = problem.residual[: problem.count * problem.nd].reshape(problem.count, problem.nd)[:, :18]
    assert np.max(np.abs(rows)) < 1e-10
    assert np.max(np.abs(u.start[:, 18:24])) > 5.0
