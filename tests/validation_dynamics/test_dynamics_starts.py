"""Violent starts: modes too fast for the step are eased, steps are cut while fast parts of the motion last."""

import numpy as np
import pytest
from scipy.linalg import eigh

import anguilla as ag
from anguilla.solve.steps.stepper import Stepper

LENGTH = 0.4


# steps far above the fast periods are what these tests are about; the free hand turns less well than the arm moves
pytestmark = pytest.mark.filterwarnings("ignore:The time steps of")


def steel_arm(damping=1e-4, hand=True):
    """A steel rod with a hand on a hinge and a tendon: the fastest mode has 8.6e4 rad/s, the slowest 10 rad/s."""
    steel = ag.Material(young=207e9, poisson=0.3, density=8000, damping=damping)
    rod = ag.Rod(LENGTH, ag.Circle(1e-3), steel, ag.kirchhoff(modes=5))
    robot = ag.Robot("arm", gravity=(0, 0, -9.81))
    arm = robot.add(rod, at=robot.ground)
    if hand:
        robot.add(ag.RigidBody(mass=0.1, inertia=np.eye(3) * 1e-4), at=arm.tip, joint=ag.Revolute(axis=(0, 0, 1)))
    robot.actuate("pull", ag.Tendon(arm, routing=ag.parallel(y=0.01)))
    robot.load(ag.TipWrench(arm, force=(0, 0, -1)))
    return robot, arm


@pytest.fixture(scope="module")
def released():
    """The arm, its equilibrium under 5 N, and the tip (21, 3) each 10 ms after the tendon snaps, by 5000 midpoint steps."""
    robot, arm = steel_arm()
    with pytest.warns(ag.AnguillaWarning, match="not unique"):
        held = ag.statics(robot, inputs={"pull": 5.0})
    run = ag.simulate(robot, duration=0.2, dt=4e-5, start=held, method=ag.Midpoint(), every=250)
    return robot, arm, held, run.position(arm.tip)


def error(released, **options):
    robot, arm, held, exact = released
    run = ag.simulate(robot, duration=0.2, start=held, every=round(0.01 / options["dt"]), **options)
    return run, float(np.linalg.norm(run.position(arm.tip) - exact, axis=1).max() / LENGTH)


@pytest.mark.parametrize(
    "method", [ag.GeneralisedAlpha(0.9), ag.GeneralisedAlpha(0.5), ag.HHT(), ag.Newmark()], ids=repr
)
# at 10 ms, on purpose far above the fast periods, their energy comes and goes: told, and true
@pytest.mark.filterwarnings("ignore:'arm' gains:anguilla.errors.AnguillaWarning")
def test_a_snapped_tendon_with_steps_far_above_the_fast_periods(released, method):
    errors = {dt: error(released, dt=dt, method=method)[1] for dt in (1e-2, 1e-3, 1e-4)}
    assert max(errors.values()) < 0.015  # 0.1 with steps of 0.1 ms if nothing is eased
    assert errors[1e-4] < 1e-3


def test_without_easing_the_fast_modes_spoil_the_slow_ones(released):
    eased, good = error(released, dt=1e-4)
    plain, bad = error(released, dt=1e-4, smooth_start=False)
    assert eased.status.counters["eased"] == 1 and plain.status.counters["eased"] == 0
    assert good < 0.02 * bad


# steps far above the fast periods, on purpose: Newton finds them with trouble, and they are 2 % of the length off
@pytest.mark.filterwarnings("ignore:Newton found the steps of 'arm':anguilla.errors.AnguillaWarning")
@pytest.mark.filterwarnings("ignore:'arm' gains 3.1 % of its energy:anguilla.errors.AnguillaWarning")
def test_an_undamped_arm_keeps_its_energy_when_its_tendon_snaps():
    robot, _ = steel_arm(damping=0.0)
    with pytest.warns(ag.AnguillaWarning, match="not unique"):
        held, rest = (ag.statics(robot, inputs={"pull": pull}) for pull in (5.0, 0.0))
    run = ag.simulate(robot, duration=0.5, dt=1e-2, start=held)
    fall = run.position(robot.parts[0].tip)[:, 2]
    total = run.energy["total"] + fall  # and that of the dead force of 1 N
    spare = total[0] - rest.energy["total"] - rest.position(robot.parts[0].tip)[2]
    assert np.max(np.abs(total - total[0])) < 1.5 * spare  # the fast modes' part may be lost, nothing is made


def test_a_jump_of_the_input_of_a_steel_arm_at_the_usual_step():
    robot, arm = steel_arm()
    with pytest.warns(ag.AnguillaWarning, match="not unique"):
        held = ag.statics(robot, inputs={"pull": 5.0})
    run = ag.simulate(robot, duration=2.0, dt=0.01, inputs={"pull": lambda t: 5 * t}, start=held)
    fine = ag.simulate(robot, duration=2.0, dt=5e-4, inputs={"pull": lambda t: 5 * t}, start=held, every=20,
                       method=ag.Midpoint())  # fmt: skip
    assert np.max(np.abs(run.position(arm.tip) - fine.position(arm.tip))) < 0.03 * LENGTH
    assert run.status.counters["substeps"] < 100


@pytest.mark.parametrize("method", [ag.Newmark(), ag.HHT(-0.2), ag.GeneralisedAlpha(0.7)], ids=repr)
def test_an_eased_start_is_that_of_linear_theory(method):
    """Accelerations a of a mode of z = om dt become ca a / (ca + z^2), ca = (1 - am) / ((1 - af) beta)."""
    robot = ag.Robot(gravity=(0, 0, 0))
    material = ag.Material(young=1e6, density=1000, damping=0.0)
    robot.add(ag.Rod(0.5, ag.Circle(0.01), material, ag.planar(6), intervals=12), at=robot.ground)
    system = ag.Model(robot)
    stiffness, _, mass = system.matrices(np.zeros(system.size))
    squares, shapes = eigh(stiffness, mass)
    dt, low, high = 0.5 / np.sqrt(squares[0]), 0, 4
    scale = [1e-5 / np.linalg.norm(shapes[:, k] * system.tree.scale) for k in (low, high)]
    run = ag.simulate(robot, duration=20 * dt, dt=dt, method=method, tolerance=1e-12,
                      start=scale[0] * shapes[:, low] + scale[1] * shapes[:, high])  # fmt: skip
    assert run.status.counters["eased"] == 1
    am, af, beta, _, _ = method.coefficients
    ca = (1 - am) / (1 - af) / beta
    for k, size in ((low, scale[0]), (high, scale[1])):
        z = np.sqrt(squares[k]) * dt
        eased = -(z**2) * ca / (ca + z**2)
        matrix = four_by_four(method.coefficients, z)
        exact = [(np.linalg.matrix_power(matrix, j) @ [1.0, 0.0, eased, eased])[0] for j in range(21)]
        np.testing.assert_allclose(run.q @ mass @ shapes[:, k] / size, exact, atol=1e-5)


def four_by_four(scheme, z):
    """One step on (x, dt v, dt^2 a, dt^2 A) of x'' = -om^2 x, z = om dt, from the four equations of the family.

    (`amplification` takes A = -om^2 x for granted.)
    """
    am, af, beta, gamma, _ = scheme
    left = np.array([[1, 0, -beta, 0], [0, 1, -gamma, 0], [0, 0, 1 - am, -(1 - af)], [z**2, 0, 0, 1.0]])
    right = np.array([[1, 1, 0.5 - beta, 0], [0, 1, 1 - gamma, 0], [0, 0, -am, af], [0, 0, 0, 0.0]])
    return np.linalg.solve(left, right)


@pytest.mark.filterwarnings("ignore:.*redundant")
def test_a_loop_of_steel_rods_starts_eased_and_stays_closed():
    steel = ag.Material(young=207e9, poisson=0.3, density=8000, damping=1e-4)
    robot = ag.Robot("four_bar", gravity=(0, -9.81, 0))
    arm = robot.add(ag.Rod(LENGTH, ag.Circle(1e-3), steel, ag.planar(6)), at=robot.ground)
    hinge = ag.Revolute(axis=(0, 0, 1))
    bar = robot.add(ag.RigidBody.box((0.1, 0.01, 0.01), mass=0.05, com=(0.05, 0, 0)), at=arm.tip, joint=hinge)
    robot.close(robot.ground, bar.at((0.1, 0, 0)), joint=hinge, pose=(LENGTH, 0.1, 0.0))
    robot.actuate("pull", ag.Tendon(arm, routing=ag.parallel(y=0.01)))
    held = ag.statics(robot, inputs={"pull": 5.0})
    runs = [ag.simulate(robot, duration=0.1, dt=dt, start=held, every=round(0.01 / dt)) for dt in (0.01, 1e-5)]
    assert runs[0].status.counters["eased"] > 0
    end = bar.at((0.1, 0, 0))
    for run in runs:
        np.testing.assert_allclose(run.position(end)[:, :2], [[LENGTH, 0.1]] * 11, atol=1e-8)
    middle = [run.position(arm.section(0.2)) for run in runs]
    assert np.max(np.abs(middle[0] - middle[1])) < 0.02 * LENGTH


@pytest.mark.filterwarnings("ignore:.*too long for Newton")
def test_a_stepper_starts_and_cuts_as_simulate_does():
    robot, _ = steel_arm(damping=0.0)
    with pytest.warns(ag.AnguillaWarning, match="not unique"):
        held = ag.statics(robot, inputs={"pull": 5.0})
    run = ag.simulate(robot, duration=0.2, dt=1e-3, start=held)
    assert run.status.counters["eased"] == 1 and run.status.counters["substeps"] > 0
    stepper = Stepper(robot, dt=1e-3, start=held)
    stepper.step(200)
    np.testing.assert_array_equal(stepper.q, run.q[-1])


def test_a_motion_goes_on_where_another_ended():
    robot, arm = steel_arm()
    options = {"dt": 1e-4, "inputs": {"pull": 0.01}, "method": ag.Midpoint(), "tolerance": 1e-11}
    whole = ag.simulate(robot, duration=0.02, **options)
    half = ag.simulate(robot, duration=0.01, **options)
    rest = ag.simulate(robot, duration=0.01, start=half, **options)
    np.testing.assert_allclose(rest.position(arm.tip)[-1], whole.position(arm.tip)[-1], atol=1e-9)
    with pytest.raises(ag.DescriptionError, match="motion of a robot with other coordinates"):
        ag.simulate(steel_arm(hand=False)[0], duration=0.01, dt=0.01, start=half)


def test_a_stepper_takes_inputs_alone_and_tells_where_it_is():
    robot, arm = steel_arm()
    one, two = (Stepper(robot, dt=1e-3) for _ in range(2))
    one.step({"pull": 0.1})
    two.step(1, {"pull": 0.1})
    np.testing.assert_array_equal(one.q, two.q)
    np.testing.assert_array_equal(one.position(arm.tip), one.result().position(arm.tip)[-1])
    with pytest.raises(ag.DescriptionError, match="inputs twice"):
        one.step({"pull": 0.1}, {"pull": 0.2})


def test_a_duration_that_is_no_number_of_steps_says_what_would_do():
    robot, _ = steel_arm()
    with pytest.raises(ag.DescriptionError, match=r"dt=1/333, or duration=0.999"):
        ag.simulate(robot, duration=1.0, dt=0.003)
    with pytest.raises(ag.DescriptionError, match=r"dt=0.1/1, or duration=0.3"):
        ag.simulate(robot, duration=0.1, dt=0.3)


def test_a_rod_that_curls_up_is_told_its_intervals():
    robot = ag.Robot(gravity=(0, 0, 0))
    rubber = ag.Material(young=1e6, density=1000, damping=0.1)
    rod = robot.add(ag.Rod(0.4, ag.Circle(5e-3), rubber, ag.planar(1), intervals=4), at=robot.ground, name="thread")
    bending = 1e6 * np.pi * 5e-3**4 / 4
    robot.load(ag.TipWrench(rod, moment=lambda t: (0, 0, 60.0 * bending * t)))  # 3 rad in each interval after 0.5 s
    with pytest.raises(ag.SolverError, match="Rod 'thread' has 4: try intervals=8") as stopped:
        ag.simulate(robot, duration=1.0, dt=0.01)
    assert 0.5 < stopped.value.result.t[-1] < 0.9


def test_a_motion_with_many_steps_cut_is_warned_of():
    robot = ag.Robot("whip")
    rubber = ag.Material(3e5, 1070, poisson=0.49)
    robot.add(ag.Rod(0.3, ag.Circle(0.00375), rubber, ag.reissner(4)), at=robot.ground)
    with pytest.warns(ag.AnguillaWarning, match=r"of 100 steps of 'whip' were too long for Newton.*smaller dt"):
        coarse = ag.simulate(robot, duration=1.0, dt=0.01)
    fine = ag.simulate(robot, duration=1.0, dt=0.002)
    gain = [np.max(run.energy["total"]) - run.energy["total"][0] for run in (coarse, fine)]
    assert gain[0] > 100 * gain[1]  # the reason for the warning


@pytest.mark.filterwarnings("ignore:.*redundant")
def test_a_closed_robot_under_an_absurd_load_ends_with_a_solver_error():
    robot = ag.Robot("loop")
    rubber = ag.Material(1e6, 1100, poisson=0.45, damping=0.02)
    rod = ag.Rod(0.25, ag.Circle(0.004), rubber, ag.kirchhoff(3), intervals=8)
    one = robot.add(rod, at=robot.ground)
    two = robot.add(rod, at=one.tip, joint=ag.Revolute((0, 0, 1)))
    robot.close(robot.ground, two.tip, joint=ag.Spherical(), pose=(0.36, 0, 0))
    robot.actuate("pull", ag.Tendon(one, ag.parallel(y=0.003)))
    with pytest.raises(ag.SolverError):
        ag.simulate(robot, duration=0.2, dt=0.01, inputs={"pull": 1e7})
