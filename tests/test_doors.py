"""Wrong input is refused at the door with the name of the field; failure is data."""

import numpy as np
import pytest

import anguilla as ag

NAN = float("nan")


def build(strains=None, force=None, follower=False, name="robot"):
    robot = ag.Robot(name)
    material = ag.Material(young=1e6, poisson=0.4, density=1000.0)
    rod = ag.Rod(0.5, ag.Circle(0.02), material, strains or ag.kirchhoff(2))
    arm = robot.add(rod, at=robot.ground, name="arm")
    if force is not None:
        robot.load(ag.TipWrench(arm, force=force, follower=follower))
    return robot, arm


def two_rods():
    robot, arm = build(name="other")
    robot.add(ag.Rod(0.3, ag.Circle(0.02), arm.rod.material, ag.planar(1)), at=arm.tip, name="second")
    return robot


@pytest.fixture(scope="module")
def equilibrium():
    return ag.statics(build()[0])


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("dt", {"dt": 0}),
        ("dt", {"dt": -0.01}),
        ("dt", {"dt": NAN}),
        ("dt", {"dt": "0.01"}),
        ("duration", {"duration": NAN}),
        ("duration", {"duration": float("inf")}),
        ("duration", {"duration": -1.0}),
        ("duration", {"duration": 0.0}),
        ("duration", {"duration": 0.105}),
        ("duration", {"duration": 0.001}),
        ("every", {"every": 0}),
        ("every", {"every": 3}),
        ("every", {"every": 2.0}),
        ("tolerance", {"tolerance": 0.0}),
        ("tolerance", {"tolerance": NAN}),
        ("error", {"error": -1e-3}),
        ("start", {"start": np.zeros(7)}),
        ("start", {"start": np.zeros((1, 6))}),
        ("start", {"start": np.array([0.0, NAN, 0.0, 0.0, 0.0, 0.0])}),
        ("start[1]", {"start": (np.zeros(6), np.zeros(5))}),
        ("start[1]", {"start": (np.zeros(6), np.full(6, np.inf))}),
        ("start", {"start": (np.zeros(6), np.zeros(6), np.zeros(6))}),
        ("method", {"method": "euler"}),
        ("method", {"method": ag.Newmark}),
    ],
)
def test_simulate_names_the_wrong_field(field, options):
    with pytest.raises(ag.DescriptionError) as caught:
        ag.simulate(build()[0], **({"duration": 0.1, "dt": 0.01} | options))
    assert str(caught.value).startswith(field + " ")


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("tolerance", {"tolerance": -1.0}),
        ("iterations", {"iterations": 0}),
        ("iterations", {"iterations": 2.5}),
        ("start", {"start": np.zeros(5)}),
        ("start", {"start": np.full(6, NAN)}),
        ("method", {"method": "secant"}),
    ],
)
def test_statics_names_the_wrong_field(field, options):
    with pytest.raises(ag.DescriptionError) as caught:
        ag.statics(build()[0], **options)
    assert str(caught.value).startswith(field + " ")


@pytest.mark.parametrize("solve", [ag.statics, lambda robot: ag.simulate(robot, duration=0.1, dt=0.01), ag.Model])
def test_an_empty_robot_is_refused(solve):
    with pytest.raises(ag.DescriptionError, match="'nothing' has no parts"):
        solve(ag.Robot("nothing"))


def test_starting_from_the_equilibrium_of_another_robot_is_refused(equilibrium):
    with pytest.raises(ag.DescriptionError, match="start"):
        ag.simulate(two_rods(), duration=0.1, dt=0.01, start=equilibrium)
    with pytest.raises(ag.DescriptionError, match="start"):
        ag.statics(two_rods(), start=equilibrium)


@pytest.mark.parametrize("quantity", ["position", "pose", "twist", "acceleration", "jacobian"])
def test_a_frame_of_another_robot_is_refused(equilibrium, quantity):
    for frame in (two_rods().parts[0].tip, two_rods().parts[1].tip):
        with pytest.raises(ag.DescriptionError, match=r"belongs to another robot, 'other'"):
            getattr(equilibrium, quantity)(frame)
    with pytest.raises(ag.DescriptionError, match="expected a frame"):
        getattr(equilibrium, quantity)(equilibrium.robot.parts[0])
    with pytest.raises(ag.DescriptionError, match=r"got its name, 'arm\.tip': give the frame itself"):
        getattr(equilibrium, quantity)("arm.tip")


@pytest.mark.parametrize(("word", "name"), [("rotation", "pose"), ("euler", "pose"), ("curvature", "strain")])
def test_words_for_what_a_result_has_under_another_name(equilibrium, word, name):
    with pytest.raises(AttributeError, match=rf"'{word}'; did you mean '{name}'\?"):
        getattr(equilibrium, word)


def test_an_input_written_as_text_is_told_to_be_a_function(equilibrium):
    robot = two_rods()
    robot.actuate("pull", ag.Tendon(robot.parts[0], ag.parallel(y=0.005)))
    with pytest.raises(
        ag.DescriptionError, match=r"'pull' must be a number or a function of the time t, such as lambda t"
    ):
        ag.statics(robot, inputs={"pull": "2*sin(t)"})


@pytest.mark.parametrize("quantity", ["wrench", "strain"])
def test_a_rod_of_another_robot_is_refused(equilibrium, quantity):
    with pytest.raises(ag.DescriptionError, match="expected a rod of robot 'robot'"):
        getattr(equilibrium, quantity)(two_rods().parts[0])


@pytest.mark.parametrize("quantity", ["wrench", "strain"])
@pytest.mark.parametrize("X", [-0.1, 0.6, [0.1, 0.50001]])
def test_an_arc_length_outside_the_rod_is_refused(equilibrium, quantity, X):
    with pytest.raises(ag.DescriptionError, match=r"X must lie between 0 and the length 0\.5 m of arm"):
        getattr(equilibrium, quantity)(equilibrium.robot.parts[0], X)


def test_a_section_outside_the_rod_is_refused(equilibrium):
    with pytest.raises(ag.DescriptionError, match=r"X of arm\.section"):
        equilibrium.robot.parts[0].section(0.6)


@pytest.mark.parametrize(("field", "state"), [("q", (np.zeros(5),)), ("v", (np.zeros(6), np.full(6, NAN)))])
def test_residual_names_the_wrong_vector(field, state):
    system = ag.Model(build()[0])
    for door in (system.residual, system.tangent, system.matrices):
        with pytest.raises(ag.DescriptionError) as caught:
            door(*state)
        assert str(caught.value).startswith(field + " must")


def test_a_state_that_is_not_contiguous_or_not_float_is_welcome():
    system = ag.Model(build()[0])
    q = np.arange(12, dtype=np.float32)[::2]
    assert np.array_equal(system.residual(q), system.residual(q.astype(float).tolist()))


def test_the_arrays_of_a_compiled_robot_are_read_only():
    tree = ag.Model(build()[0]).tree
    assert not any(array.flags.writeable for array in tree)


def test_an_unknown_coordinate_label_is_refused(equilibrium):
    with pytest.raises(KeyError, match="no coordinate"):
        equilibrium["arm.bend_x[0]"]


# Failure is data ------------------------------------------------------------------------------------------------------


def test_statics_that_fails_raises_with_the_last_good_state():
    robot, _ = build(ag.kirchhoff(3), force=(0.0, 0.0, 1e4), follower=True)
    with pytest.raises(ag.SolverError, match="of the load") as caught:
        ag.statics(robot)
    result = caught.value.result
    assert caught.value.advice
    assert isinstance(result, ag.Equilibrium) and not result.status.success
    # an equilibrium under a part of the load: internal = factor x external
    system = ag.Model(robot)
    internal = system.elastic_stiffness() @ result.q
    external = internal - system.residual(result.q)
    factor = internal @ external / (external @ external)
    assert 1e-4 < factor < 0.5
    assert internal == pytest.approx(factor * external, abs=1e-8 * np.max(np.abs(internal)))


@pytest.mark.parametrize("force", [(0.0, 0.0, 1e4), (0.0, 0.0, 1e200)], ids=["large", "absurd"])
def test_statics_that_fails_at_once_gives_finite_numbers(force):
    robot, arm = build(ag.kirchhoff(3), force=force, follower=True)
    result = ag.statics(robot, iterations=1, raise_on_failure=False)
    assert not result.status.success and "stopped at" in result.status.message
    assert np.all(np.isfinite(result.q)) and np.all(np.isfinite(result.pose(arm.tip)))
    assert result.status.counters["iterations"] > 0


def overflowing():
    """A robot whose two tip forces add up to infinity from 0.24 s on."""
    robot, arm = build()
    for _ in range(2):
        robot.load(ag.TipWrench(arm, force=lambda t: (0.0, 0.0, 0.0 if t < 0.24 else 1.7e308)))
    return robot, arm


@pytest.mark.parametrize("error", [None, 1e-2], ids=["fixed", "controlled"])
def test_simulate_that_fails_raises_with_the_motion_so_far(error):
    robot, _ = overflowing()
    with pytest.raises(ag.SolverError, match=r"stopped at t = 0\.2 s") as caught:
        ag.simulate(robot, duration=0.5, dt=0.05, error=error, method=ag.Newmark())
    result = caught.value.result
    assert caught.value.advice
    assert isinstance(result, ag.Trajectory) and not result.status.success
    assert result.t == pytest.approx([0.0, 0.05, 0.1, 0.15, 0.2])
    same = ag.simulate(build()[0], duration=0.2, dt=0.05, error=error, method=ag.Newmark())
    for one, two in ((result.q, same.q), (result.v, same.v), (result.a, same.a)):
        assert one == pytest.approx(two, rel=1e-12, abs=1e-12 * np.max(np.abs(two)))


def test_simulate_that_fails_can_return_instead_of_raising():
    robot, arm = overflowing()
    result = ag.simulate(robot, duration=0.5, dt=0.05, raise_on_failure=False)
    assert not result.status.success and "stopped at t" in result.status.message
    assert result.status.counters["steps"] == len(result.t) - 1
    for array in (result.q, result.v, result.pose(arm.tip), result.energy["total"]):
        assert np.all(np.isfinite(array))
    assert np.all(np.isfinite(result.a))  # the balance holds at the end of every step: all stored states have one


# Wrong input that is easily let through -------------------------------------------------------------------------------

OPEN_DOORS = {
    "start is a word": ("^start", lambda eq: ag.simulate(eq.robot, duration=0.1, dt=0.01, start="rest")),
    "start is a thing": ("^start", lambda eq: ag.statics(eq.robot, start=eq.status)),
    "not a robot": ("robot", lambda eq: ag.statics("robot")),
    "t is not a number": ("^t ", lambda eq: ag.statics(eq.robot, t=NAN)),
    "flow without a step": ("dt", lambda eq: ag.statics(eq.robot, method=ag.Flow(dt=0.0))),
    "flow backwards": ("mu", lambda eq: ag.statics(eq.robot, method=ag.Flow(mu=-1e-3))),
    "strain nowhere": ("^X ", lambda eq: eq.strain(eq.robot.parts[0], [NAN])),
    "strain on a table": ("^X ", lambda eq: eq.strain(eq.robot.parts[0], [[0.1, 0.2]])),
    "alpha is not a number": ("^alpha ", lambda eq: eq.system.tangent(np.zeros(6), alpha=NAN)),
    "residual at no time": ("^t ", lambda eq: eq.system.residual(np.zeros(6), t=NAN)),
}


@pytest.mark.parametrize(("field", "call"), OPEN_DOORS.values(), ids=OPEN_DOORS)
def test_doors_that_still_stand_open(equilibrium, field, call):
    with pytest.raises(ag.DescriptionError, match=field):
        call(equilibrium)


def test_success_says_so(equilibrium):
    assert equilibrium.status.success and "converged" in equilibrium.status.message
    run = ag.simulate(build()[0], duration=0.02, dt=0.01)
    assert run.status.success and run.status.counters["steps"] == 2
