"""Loops of rods: the same robot described in other ways, the strong form, orders and conditioning of the time step."""

import warnings
from contextlib import nullcontext
from itertools import pairwise

import numpy as np
import pytest
from multibody_oracles import rotation
from scipy.integrate import solve_bvp

import anguilla as ag

RUBBER = ag.Material(young=1e6, poisson=0.45, density=1000.0, damping=0.01)
SECTION = ag.Circle(0.01)
LENGTH = 0.3


def extrapolated(simulate, coarse=2e-3):
    """Positions (places, time, 3) at dt = 0, from two steps of a method of order two; and the change it makes."""
    one, two = simulate(coarse), simulate(coarse / 2)[:, ::2]
    return two + (two - one) / 3.0, np.abs(two - one).max()


# The same robot in other words ----------------------------------------------------------------------------------------


def pieces(kind, damping=0.01):
    """A rod of three pieces of constant strain, as one rod, as three in the tree, or as three held by closures."""
    material = ag.Material(young=1e6, poisson=0.45, density=1000.0, damping=damping)
    names = ("twist", "bend_y", "bend_z", "stretch", "shear_y", "shear_z")
    robot = ag.Robot(kind, gravity=(1.0, 2.0, -9.81))
    if kind == "one":
        strains = ag.Strains(**{name: ag.PiecewiseConstant(3) for name in names})
        rod = robot.add(ag.Rod(LENGTH, SECTION, material, strains, intervals=6), at=robot.ground)
        return robot, [rod.section(LENGTH * k / 3) for k in (1, 2, 3)]
    part = ag.Rod(LENGTH / 3, SECTION, material, ag.Strains(**dict.fromkeys(names, 1)), intervals=2)
    rods = [robot.add(part, at=robot.ground)]
    for _ in range(2):
        if kind == "three":
            rods.append(robot.add(part, at=rods[-1].tip))
        else:
            rods.append(robot.add(part, at=robot.ground, joint=ag.Free()))
            robot.close(rods[-2].tip, rods[-1].root)
    return robot, [rod.tip for rod in rods]


def test_a_rod_in_pieces_is_one_rod():
    motions = {}
    for kind in ("one", "three", "closed"):
        robot, places = pieces(kind)

        def motion(dt, kind=kind, robot=robot, places=places):
            start = np.zeros(robot.size)
            if kind == "closed":  # the second and third piece begin where the one before ends
                start[robot.coordinates().index("rod_2.x")] = LENGTH / 3
                start[robot.coordinates().index("rod_3.x")] = 2 * LENGTH / 3
            run = ag.simulate(robot, duration=0.2, dt=dt, start=start, tolerance=1e-10)
            return np.stack([run.position(place) for place in places])

        motions[kind] = extrapolated(motion)[0]
    assert np.ptp(motions["one"][2, :, 2]) > 0.05
    np.testing.assert_allclose(motions["three"], motions["one"], atol=1e-10)
    np.testing.assert_allclose(motions["closed"], motions["one"], atol=1e-6)


def locomotor(fixed, modes=3):
    """An arm clamped by the tree, or free and clamped by a closure; it carries a body on a hinge."""
    robot = ag.Robot("arm")
    rod = ag.Rod(LENGTH, SECTION, RUBBER, ag.kirchhoff(modes), intervals=24)
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation((0.0, 1.0, 0.0), 0.4), (0.1, 0.2, 0.3)
    if fixed:
        arm, clamp = robot.add(rod, at=robot.ground, pose=pose, name="arm"), None
    else:
        arm = robot.add(rod, at=robot.ground, joint=ag.Free(), name="arm")
        clamp = robot.close(robot.ground, arm.root, pose=pose)
    body = ag.RigidBody.box((0.04, 0.02, 0.02), mass=0.02, com=(0.02, 0.0, 0.0))
    hand = robot.add(body, at=arm.tip, joint=ag.Revolute((0, 0, 1), stiffness=0.05), name="hand")
    robot.load(ag.Wrench(hand.frame, force=(0.0, 0.1, 0.0)))
    return robot, arm, hand, clamp


def test_a_manipulator_is_a_locomotor_that_is_held():
    """004 remark 1: the multipliers of the clamp are the wrench at the root."""
    motions, wrenches = [], []
    for fixed in (True, False):
        robot, arm, hand, clamp = locomotor(fixed)
        at_root = []

        def motion(dt, robot=robot, arm=arm, hand=hand, clamp=clamp, at_root=at_root):
            run = ag.simulate(robot, duration=0.3, dt=dt, tolerance=1e-10)
            at_root.append(-run.wrench(arm, [0.0])[:, 0] if clamp is None else run.reaction(clamp))
            if clamp is not None:
                inside = -run.wrench(arm, [1e-9 * LENGTH])[:, 0]  # just beyond the clamp
                np.testing.assert_allclose(at_root[-1], inside, atol=1e-3 * np.abs(inside).max())
            return np.stack([run.position(arm.tip), run.position(hand.at((0.04, 0, 0)))])

        motions.append(extrapolated(motion)[0])
        wrenches.append(at_root[1][::2] + (at_root[1][::2] - at_root[0]) / 3.0)
    np.testing.assert_allclose(motions[1], motions[0], atol=1e-6)
    settled = slice(20, None)  # the first multipliers of an index-3 scheme swing
    size = np.abs(wrenches[0]).max(axis=0)
    np.testing.assert_allclose(wrenches[1][settled] / size, wrenches[0][settled] / size, atol=1e-3)
    equilibria = [ag.statics(locomotor(fixed)[0]) for fixed in (True, False)]
    np.testing.assert_allclose(equilibria[1].q[6:], equilibria[0].q, atol=1e-8)


def parallel_robot(cut="left", modes=4, gravity=(0.0, 0.0, 0.0)):
    """A plate on two rods in the x-y plane, clamped at (0, +-0.1); the tree goes through one of them."""
    robot = ag.Robot("parallel", gravity=gravity)
    rod = ag.Rod(LENGTH, SECTION, RUBBER, ag.planar(modes))
    plate = ag.RigidBody.box((0.04, 0.2, 0.02), mass=0.1)
    sides = {"left": 0.1, "right": -0.1}
    rods = {side: robot.add(rod, at=robot.ground.offset_by((0, y, 0)), name=side) for side, y in sides.items()}
    first, second = ("left", "right") if cut == "right" else ("right", "left")
    body = robot.add(plate, at=rods[first].tip.offset_by((0, -0.8 * sides[first], 0)), name="plate")
    loop = robot.close(rods[second].tip, body.at((0, 0.8 * sides[second], 0)), name="loop")
    return robot, rods, body, loop


def test_the_loop_of_rods_may_be_cut_on_either_side():
    motions, reactions = [], []
    for cut in ("left", "right"):
        robot, rods, body, loop = parallel_robot(cut)
        robot.load(ag.Wrench(body.frame, force=lambda t: (0.0, 0.5 * np.sin(20 * t), 0.0), moment=(0.0, 0.0, 0.01)))

        def motion(dt, robot=robot, body=body):
            run = ag.simulate(robot, duration=0.2, dt=dt)
            return np.stack([run.position(body.at((0.1, 0, 0))), run.position(body.frame)])

        motions.append(extrapolated(motion)[0])
        eq = ag.statics(robot, t=0.1)
        # what the cut rod does to the plate, by the loop; what it does inside, by the other cut
        reactions.append(
            (eq.reaction(loop), eq.wrench(rods["left"], [LENGTH])[0], eq.wrench(rods["right"], [LENGTH])[0])
        )
    assert np.ptp(motions[0][0, :, 1]) > 0.01
    np.testing.assert_allclose(motions[1], motions[0], atol=1e-6)
    np.testing.assert_allclose(reactions[0][1:], reactions[1][1:], atol=1e-8)


# The strong form ------------------------------------------------------------------------------------------------------


def strong_form_of_two_rods(EI, force, moment, guess):
    """Poses of the plate (x, y, angle) by solve_bvp: two elasticas, clamped at the ground and to a rigid plate.

    Per rod x, y, angle, M and the constant force F that its beyond exerts on its before: M' = Fx sin - Fy cos.
    """
    low, high = 0.1, 0.08  # half distances at the ground and at the plate

    def rates(s, y):
        out = np.zeros_like(y)
        for k in (0, 6):
            c, d = np.cos(y[k + 2]), np.sin(y[k + 2])
            out[k : k + 4] = [c, d, y[k + 3] / EI, y[k + 4] * d - y[k + 5] * c]
        return out

    def ends(a, b):
        phi = b[2]
        across = 2.0 * high * np.array([-np.sin(phi), np.cos(phi)])
        arm = 0.5 * across
        turning = lambda r, f: r[0] * f[1] - r[1] * f[0]
        # the left rod ends at +across / 2 from the centre of the plate, the right one at -across / 2
        balance = np.array(force) - b[4:6] - b[10:12]
        about = moment - b[3] - b[9] - turning(arm, b[4:6]) - turning(-arm, b[10:12])
        return np.array([
            a[0], a[1] - low, a[2], a[6], a[7] + low, a[8],
            b[0] - b[6] - across[0], b[1] - b[7] - across[1], b[2] - b[8], *balance, about,
        ])  # fmt: skip

    s = np.linspace(0.0, LENGTH, guess.shape[1])
    found = solve_bvp(rates, ends, s, guess, tol=1e-10, max_nodes=20000)
    assert found.success
    b = found.y[:, -1]
    return np.array([*(b[:2] + b[6:8]) / 2, b[2]]), found.y


@pytest.mark.parametrize(("force", "moment"), [((0.0, 0.6), 0.02), ((-0.5, 0.3), -0.01), ((2.0, -1.0), 0.05)])
def test_a_plate_on_two_rods_against_the_strong_form(force, moment):
    robot, rods, body, loop = parallel_robot(modes=8)
    for rod in rods.values():
        rod.rod.intervals = 40
    robot.load(ag.Wrench(body.frame, force=(*force, 0.0), moment=(0.0, 0.0, moment)))
    eq = ag.statics(robot)
    EI = 1e6 * np.pi * 0.01**4 / 4
    guess = np.zeros((12, 61))
    for k, (side, y) in enumerate((("left", 0.1), ("right", -0.1))):
        line = eq.centerline(rods[side], 61)
        guess[6 * k : 6 * k + 2] = line[:, :2].T
        guess[6 * k + 1] += 0.0 * y
        guess[6 * k + 2] = np.unwrap(np.arctan2(*np.gradient(line[:, :2], axis=0).T[::-1]))
    pose, y = strong_form_of_two_rods(EI, force, moment, guess)
    found = eq.pose(body.frame)
    assert np.hypot(pose[0] - LENGTH, pose[1]) > 0.02
    np.testing.assert_allclose(found[:2, 3], pose[:2], atol=1e-6 * LENGTH)
    np.testing.assert_allclose(np.arctan2(found[1, 0], found[0, 0]), pose[2], atol=1e-6)
    # the reaction of the loop on the plate is minus the force of the plate on the left rod
    wrench = eq.reaction(loop)
    world = found[:3, :3] @ wrench[3:]
    np.testing.assert_allclose(world[:2], -y[4:6, -1], atol=1e-5 * np.abs(y[4:6]).max())
    np.testing.assert_allclose(wrench[2], -y[3, -1], atol=1e-5 * np.abs(y[3]).max())


def test_a_rod_clamped_at_both_ends_in_space_against_the_strong_form():
    """A heavy Kirchhoff rod whose tip is held at a pose that bends and twists it: quaternions and world wrenches."""
    robot = ag.Robot("arch")
    rod = robot.add(ag.Rod(LENGTH, SECTION, RUBBER, ag.kirchhoff(16), intervals=80), at=robot.ground)
    tip = np.eye(4)
    tip[:3, :3] = rotation((0.6, 0.0, 0.8), 0.9)
    tip[:3, 3] = (0.2, 0.05, 0.03)
    clamp = robot.close(robot.ground, rod.tip, pose=tip)
    eq = ag.statics(robot)
    area, EI = np.pi * 0.01**2, 1e6 * np.pi * 0.01**4 / 4
    stiffness = np.array([EI / 1.45, EI, EI])

    def turn(q):
        w, x, y, z = q
        return np.array([
            [w**2 + x**2 - y**2 - z**2, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w**2 - x**2 + y**2 - z**2, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w**2 - x**2 - y**2 + z**2],
        ])  # fmt: skip

    def rates(s, y):
        R = turn(y[3:7])  # (3, 3, m)
        K = np.einsum("jim,jm->im", R, y[10:13]) / stiffness[:, None]  # section axes
        w, v = y[3], y[4:7]
        dq = 0.5 * np.vstack([-np.sum(v * K, axis=0), w * K + np.cross(v.T, K.T).T])
        weight = np.zeros((3, y.shape[1]))
        weight[2] = 1000.0 * area * 9.81  # n' = -weight
        t = R[:, 0]
        return np.vstack([t, dq, weight, -np.cross(t.T, y[7:10].T).T])

    end = tip[:3, :3]
    want = np.array([np.cos(0.45), *(np.sin(0.45) * np.array([0.6, 0.0, 0.8]))])
    assert np.allclose(turn(want), end)
    # the norm of the quaternion is kept by its equation, so one of its four end values is left out
    ends = lambda a, b: np.concatenate([a[:3], a[3:7] - [1, 0, 0, 0], b[:3] - tip[:3, 3], b[4:7] - want[1:]])
    X = np.linspace(0.0, LENGTH, 25)
    guess = np.zeros((13, 25))
    guess[:3], inside = eq.centerline(rod, 25).T, eq.wrench(rod, X)
    for k, x in enumerate(X):
        R = eq.pose(rod.section(x))[:3, :3]
        w = 0.5 * np.sqrt(1 + np.trace(R))
        guess[3:7, k] = [w, *(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * w))]
        guess[7:10, k], guess[10:, k] = R @ inside[k, 3:], R @ inside[k, :3]  # picks the branch, not the answer
    found = solve_bvp(rates, ends, X, guess, tol=1e-8, max_nodes=20000)
    assert found.success
    exact = found.sol(X)
    assert np.abs(guess[:3] - exact[:3]).max() < 1e-6 * LENGTH
    wrench = eq.reaction(clamp)  # on the tip: the force of its beyond on its before
    np.testing.assert_allclose(end @ wrench[3:], exact[7:10, -1], atol=2e-5 * np.abs(exact[7:10]).max())
    np.testing.assert_allclose(end @ wrench[:3], exact[10:13, -1], atol=2e-5 * np.abs(exact[10:13]).max())
    # and the stress inside the rod agrees from end to end
    R = turn(exact[3:7])
    np.testing.assert_allclose(
        np.einsum("ijm,mj->im", R, inside[:, 3:]), exact[7:10], atol=1e-4 * np.abs(exact[7:10]).max()
    )


def test_a_straight_rod_pushed_along_itself_bends_down():
    """It does not know where to bend: it is nudged, and slides to where its weight wants it."""
    found = []
    for strains in (ag.kirchhoff(4), ag.Strains(bend_y=4)):
        robot = ag.Robot("strip")
        stiff = ag.Material(young=5e6, poisson=0.45, density=1000.0)
        rod = robot.add(ag.Rod(LENGTH, SECTION, stiff, strains), at=robot.ground)
        tip = np.eye(4)
        tip[0, 3] = 0.9 * LENGTH
        robot.close(robot.ground, rod.tip, pose=tip)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ag.AnguillaWarning)
            down = None
            if len(found):  # in the plane: from a shape bent down
                down = np.zeros(robot.size)
                down[2] = 2.0
            eq = ag.statics(robot, start=down)
        found.append(eq.centerline(rod))
    np.testing.assert_allclose(found[0][:, 1], 0.0, atol=1e-8)
    assert found[0][30, 2] < -0.05
    np.testing.assert_allclose(found[0], found[1], atol=1e-7)


# Steps ----------------------------------------------------------------------------------------------------------------


def shaken(method, dt, duration=0.12):
    """State at the end of a motion of the plate on two rods; numbers of order two in dt."""
    robot, _, body, _ = parallel_robot(modes=2)
    robot.load(ag.Wrench(body.frame, force=lambda t: (0.2 * t, 0.5 * np.sin(20 * t), 0.0)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ag.AnguillaWarning)
        run = ag.simulate(robot, duration=duration, dt=dt, method=method, tolerance=1e-12)
    return run.q[-1], run.v[-1], run.multipliers[-1]


@pytest.mark.parametrize(
    "method", [ag.Newmark(), ag.HHT(-0.1), ag.GeneralisedAlpha(0.6)], ids=["newmark", "hht", "alpha"]
)
def test_order_two_of_positions_rates_and_multipliers(method):
    ends = [shaken(method, dt) for dt in (4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4)]
    for k, name in enumerate(("q", "v", "multipliers")):
        values = [np.abs(x[k] - y[k]).max() / np.abs(y[k]).max() for x, y in pairwise(ends)]
        if name == "multipliers" and isinstance(method, ag.Newmark):
            continue  # without numerical damping they swing about the right values for ever: a warning says so
        orders = [np.log2(a / b) for a, b in pairwise(values)]
        assert all(1.8 < order < 2.3 for order in orders), (name, values)
        assert values[-1] < 1e-3


def test_schemes_without_damping_warn():
    robot, _, _, _ = parallel_robot(modes=2)
    with pytest.warns(ag.AnguillaWarning) as seen:
        ag.simulate(robot, duration=0.01, dt=1e-3, method=ag.Newmark())
    assert any("no numerical damping" in str(w.message) for w in seen)


@pytest.mark.filterwarnings("ignore::anguilla.AnguillaWarning")  # long steps on purpose
@pytest.mark.parametrize("kind", ["four_bar", "rods"])
def test_any_step_from_a_tenth_of_a_second_to_a_tenth_of_a_microsecond(kind):
    """The scaled matrix does not feel dt: every step converges, and the loop stays closed."""
    from test_multibody_limits import LENGTHS, coordinates, four_bar, four_bar_angles

    for dt in 10.0 ** -np.arange(1, 8):
        if kind == "four_bar":
            robot, bars, _ = four_bar()
            start, ends = (
                coordinates(four_bar_angles(0.5)),
                (bars[1].at((LENGTHS[1], 0, 0)), bars[2].at((LENGTHS[2], 0, 0))),
            )
        else:
            robot, rods, body, _ = parallel_robot(gravity=(0.0, -9.81, 0.0))
            start, ends = None, (rods["left"].tip, body.at((0, 0.08, 0)))
        said = pytest.warns(ag.AnguillaWarning, match="redundant") if kind == "four_bar" else nullcontext()
        with said:
            run = ag.simulate(robot, duration=40 * dt, dt=dt, start=start, method=ag.GeneralisedAlpha(0.5))
        assert run.status.success
        assert np.abs(run.position(ends[0]) - run.position(ends[1])).max() < 1e-10
        if kind == "four_bar" and dt > 5e-3:
            continue  # such steps skip over whole swings
        energy = run.energy["total"] if kind == "four_bar" else np.zeros(1)
        assert np.ptp(energy) < 1e-2 * max(np.abs(run.energy["gravitational"]).max(), 1e-3)


def test_a_closed_ring_is_found_though_nothing_holds_its_plane():
    """A round rod bent to a ring on the ground may turn about its tangent: the equilibrium is found, and said not unique."""
    robot = ag.Robot("ring", gravity=(0, 0, 0))
    material = ag.Material(young=1e6, poisson=0.45, density=1000)
    hoop = robot.add(ag.Rod(1.0, ag.Circle(0.01), material, ag.kirchhoff(4)), at=robot.ground, name="hoop")
    robot.close(hoop.tip, hoop.root)
    with pytest.warns(ag.AnguillaWarning, match=r"not unique: nothing holds hoop\."):
        ring = ag.statics(robot, start=[0.1] * 4 + [0.2] * 4 + [6.0] + [0.1] * 3)
    strain = ring.strain(hoop)
    np.testing.assert_allclose(np.linalg.norm(strain[:, 1:3], axis=1), 2 * np.pi, rtol=1e-6)
    np.testing.assert_allclose(strain[:, 0], 0.0, atol=1e-6)


def free_rod(gravity):
    robot = ag.Robot("free", gravity=gravity)
    material = ag.Material(young=1e6, poisson=0.45, density=1000)
    rod = ag.Rod(0.5, ag.Circle(0.01), material, ag.kirchhoff(3))
    return robot, robot.add(rod, at=robot.ground, joint=ag.Free(), name="rod")


@pytest.mark.parametrize("moment", [0.02, 0.2])
def test_a_free_rod_in_balance_bends_where_it_is(moment):
    """Bent to two turns it would jump out of its plane: a motion from 1e-5 beside it is 1 rad away after 0.4 s."""
    robot, rod = free_rod((0, 0, 0))
    robot.load(ag.Wrench(rod.root, moment=(0, -moment, 0), follower=True))
    robot.load(ag.Wrench(rod.tip, moment=(0, moment, 0), follower=True))
    with pytest.warns(ag.AnguillaWarning) as said:
        bent = ag.statics(robot)
    texts = [str(warning.message) for warning in said]
    assert "not unique: nothing holds rod." in texts[0]
    assert ["unstable" in text for text in texts] == ([False] if moment < 0.1 else [False, True])
    np.testing.assert_allclose(bent.strain(rod)[:, 1], moment / (1e6 * np.pi * 0.01**4 / 4), rtol=1e-7)


def test_a_falling_rod_has_no_equilibrium():
    robot, _ = free_rod((0, 0, -9.81))
    with pytest.raises(ag.SolverError, match=r"nothing holds rod\."):
        ag.statics(robot)


@pytest.mark.parametrize("frequency", [10.0, 100.0, 1000.0])
def test_a_body_held_by_a_shaking_hand_needs_its_mass_times_acceleration(frequency):
    """Also a fast one, from the first instant: rates at the start come from differences in time."""
    w, amplitude, mass = 2 * np.pi * frequency, 1e-4, 2.0
    robot = ag.Robot("held", gravity=(0, 0, 0))
    body = robot.add(ag.RigidBody(mass, (0.01, 0.01, 0.01)), at=robot.ground, joint=ag.Prismatic((0, 1, 0)))
    hand = robot.close(robot.ground, body.frame, pose=lambda t: (0, amplitude * np.sin(w * t), 0))
    with pytest.warns(ag.AnguillaWarning, match="2 of 6 constraints are redundant"):  # besides those out of its plane
        run = ag.simulate(robot, duration=2 / frequency, dt=1 / frequency / 200)
    assert run.v[:, 0] == pytest.approx(amplitude * w * np.cos(w * run.t), abs=2e-4 * amplitude * w)
    force = -mass * amplitude * w**2 * np.sin(w * run.t)
    assert run.reaction(hand)[:, 4] == pytest.approx(force, abs=2e-3 * mass * amplitude * w**2)
