"""What the judge need not do it does not do, and what it finds quickly is what the long way finds."""

import copy
import gc
import pickle
import warnings
import weakref
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from scipy.linalg import eigvals
from scipy.spatial.transform import Rotation

import anguilla as ag
from anguilla.errors import SolverError
from anguilla.results import resolution
from anguilla.results.reactions import evaluate
from anguilla.solve.statics import judging, stability
from anguilla.solve.steps import carried, measured, trust
from anguilla.solve.steps.dynamics import simulate_model


def swing(dt=0.01, count=100, every=1):
    """A pendulum of three bars, one on a ball joint that turns."""
    robot = ag.Robot("swing")
    frame = robot.ground
    for joint in (ag.Revolute((0, 1, 0)), ag.Spherical(), ag.Revolute((0, 0, 1))):
        bar = ag.RigidBody.box((0.2, 0.02, 0.03), mass=0.3, com=(0.1, 0.0, 0.0))
        frame = robot.add(bar, at=frame, joint=joint).at((0.2, 0.0, 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ag.AnguillaWarning)  # some steps are too long on purpose
        start = np.zeros(5), np.array([0.0, 3.0, 1.0, -2.0, 0.0])
        return ag.simulate(robot, duration=count * dt, dt=dt, every=every, start=start, progress=False)


def test_a_quiet_motion_costs_no_matrices_and_no_energies():
    with (
        mock.patch.object(trust, "carry", side_effect=AssertionError),
        mock.patch.object(trust, "energy_gain", side_effect=trust.energy_gain) as energies,
        mock.patch.object(trust, "penetration", side_effect=trust.penetration) as depths,
    ):
        run = swing(dt=5e-4, count=100)
        assert not energies.called and not depths.called
        assert run.quality.ok and run.quality.time_error < 0.005
        assert 0.0 <= run.quality.energy_error < 1e-3 and run.quality.penetration is None
        assert energies.call_count == depths.call_count == 1  # once, when it is read


def test_a_motion_is_let_go_as_soon_as_nobody_holds_it():
    gc.disable()
    try:
        run = swing(dt=5e-4, count=100)
        quality, held = run.quality, weakref.ref(run)
        del run
        assert held() is None and quality.ok
    finally:
        gc.enable()


def test_parts_and_copies_of_a_motion_have_its_quality():
    run = swing(dt=5e-4)
    for other in (run[10:20], copy.deepcopy(run), pickle.loads(pickle.dumps(run.quality))):
        assert (other if isinstance(other, type(run.quality)) else other.quality) == run.quality


@pytest.mark.parametrize(
    ("differ", "missed", "jumps", "blocks"),
    [
        (1e-5, np.linspace(0.0, 1.0, 101), (), 2),  # a fifth of a motion that goes on as it began
        (5e-4, np.linspace(0.0, 1.0, 101), (), 4),  # a part that is not small enough at first
        (1e-5, np.linspace(0.0, 1.0, 101) ** 8, (), 7),  # most errors are still to come
        (1e-5, np.repeat([0.0, 1.0], [100, 1]), (), 10),  # all of them are: an impact at the end
        (1e-5, np.linspace(0.0, 1.0, 101), (54,), 6),  # loads jump
    ],
)
def test_a_part_of_a_motion_settles_a_doubt_only_if_the_rest_is_like_it(differ, missed, jumps, blocks):
    run, asked = swing(dt=5e-4), []

    def finer(*_):
        for first in range(0, 100, 10):
            asked.append(first)
            yield first, run.q[first + 1 : first + 11] + np.array([0.75 * differ, 0.0, 0.0, 0.0, 0.0])

    motion = SimpleNamespace(cutting=np.zeros(5, np.int64), jumps=[SimpleNamespace(step=k) for k in jumps], pieces=[])
    nothing = carried.Carried(None, 0, 0, 0, 0.0, 0.0)
    estimate = trust._Estimate(measured.TimeError(1.0, 0.0, 0, True), nothing, 1.0)
    with mock.patch.object(trust, "finer", finer), mock.patch.object(trust, "added_up", lambda _: missed):
        found = trust._compared(motion, run, 5e-4, estimate, False, 1)
    assert len(asked) == blocks
    assert found.sure and found.size >= differ * (1.0 / max(missed[10 * blocks], 1e-9)) * 0.9


def test_local_errors_add_up_to_the_whole():
    run = swing(dt=5e-4)
    turns = np.linalg.norm(np.diff(run.integrated, axis=0) * run.system.tree.scale, axis=1)
    np.testing.assert_allclose(np.diff(measured.added_up(run)), turns / np.sum(turns), atol=1e-12)


def test_local_errors_are_sums_over_the_steps():
    random = np.random.default_rng(1)
    q, a, weight = random.normal(size=(7, 4)), random.normal(size=(7, 4)), np.array([1.0, 2.0, 0.0, 0.5])
    turns, dt = np.array([1.0, 0.0, 0.0, 0.0]), 0.1
    missed = dt**2 / 12.0 * np.diff(a, axis=0)
    expected = [np.sum(np.linalg.norm(missed * w, axis=1)) for w in (turns, weight)]
    found = measured.local_errors(q, a, weight, turns, dt)
    np.testing.assert_allclose(found[:2], expected, rtol=1e-13)
    assert found[2] == pytest.approx(np.max(np.linalg.norm((q - q[0]) * weight, axis=1)))


def test_carried_errors_are_those_of_the_steps():
    """Errors of coordinates, ball joints included, against steps 32 times shorter; with the matrices of every state."""
    found = {}

    def keep(motion, run, dt):
        found["it"] = carried.carry(motion, run, dt)
        return found["it"]

    with mock.patch.object(trust, "carry", side_effect=keep), mock.patch.object(carried, "LEAST", 30):
        run = swing(dt=0.01, count=30)
    fine = swing(dt=0.01 / 32, count=30 * 32, every=32)
    true, ball = run.q - fine.q, slice(1, 4)
    turns = Rotation.from_rotvec(fine.q[:, ball]).inv() * Rotation.from_rotvec(run.q[:, ball])  # in its own axes
    true[:, ball] = turns.as_rotvec()
    size = np.max(np.abs(true))
    assert 5e-3 < size < 0.05
    assert np.max(np.abs(found["it"].errors - true)) < 0.06 * size


def _flat():
    """A rod that bends and stretches in a plane."""
    robot = ag.Robot("flat", gravity=(0, -9.81, 0))
    rod = ag.Rod(0.4, ag.Circle(0.004), ag.Material(1e8, 1000, poisson=0.5), ag.Strains(bend_z=3, stretch=1))
    robot.add(rod, at=robot.ground)
    return robot


def _spatial():
    """A rod in space with a dead force, a spring at its tip and a line that pulls."""
    robot = ag.Robot("spatial")
    rod = robot.add(
        ag.Rod(0.3, ag.Circle(0.01), ag.Material(1e6, 1000, poisson=0.45), ag.kirchhoff(3)), at=robot.ground
    )
    robot.load(ag.Wrench(rod.tip, force=(0.0, 0.05, 0.02)))
    robot.load(ag.Spring(rod.tip, robot.ground, stiffness=3.0, rest=0.25))
    robot.actuate("line", ag.Tendon(rod, ag.parallel(y=0.005)))
    return robot


def _long():
    """A chain with so many coordinates that its stiffness is a sparse matrix."""
    robot, frame = ag.Robot("chain"), None
    for _ in range(8):
        rod = ag.Rod(0.1, ag.Circle(0.01), ag.Material(1e6, 1000, poisson=0.45), ag.kirchhoff(3))
        frame = robot.add(rod, at=frame or robot.ground).tip
    return robot


@pytest.mark.parametrize(("make", "inputs"), [(_flat, {}), (_spatial, {"line": 0.4}), (_long, {})])
def test_energies_of_the_judge_are_those_of_the_result(make, inputs):
    """The largest gain, and the energy in play that it is measured by, of states that gain by chance."""
    robot = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ag.AnguillaWarning)
        run = ag.simulate(robot, duration=0.03, dt=0.001, inputs=inputs, progress=False)
    kept = [run.energy["elastic"], run.energy["gravitational"]]
    if inputs:
        tip = robot.parts[0].tip
        kept += [-run.position(tip) @ np.array([0.0, 0.05, 0.02]), 0.4 * run.length("line")]
    total = run.energy["kinetic"] + np.sum(kept, axis=0)
    rise = total - np.minimum.accumulate(total)
    play = np.sum(np.ptp(kept, axis=1)) + np.max(run.energy["kinetic"])
    found, at = trust.energy_gain(trust.some_of(trust.all_of(run))())
    round_off = 1e-14 * np.max(np.abs(kept)) / play
    assert found == pytest.approx(np.max(rise) / play, rel=1e-12, abs=round_off)
    assert at == run.t[np.argmax(rise)] or found < 10.0 * round_off


def test_shorter_steps_that_take_too_long_tell_of_what_they_reached():
    whole = swing(dt=0.03, count=40).quality.time_error
    assert whole > trust.SUSPICIOUS

    def gives_up(motion, run, *given):
        for first, q in trust_finer(motion, run, *given):
            if first >= 24:
                raise SolverError("Shorter steps take too long.")
            yield first, 1e-3 * q + (1.0 - 1e-3) * run.q[first + 1 : first + 1 + len(q)]  # hardly off

    trust_finer = trust.finer
    with mock.patch.object(trust, "finer", side_effect=gives_up):
        some = swing(dt=0.03, count=40).quality
    assert 0.0 < some.time_error < 0.005  # not what was feared
    assert not any("time steps" in message for message in some.messages)


def random_motion(seed, pull):
    """Stiffness, damping and mass of a random robot of six coordinates, and the forces without potential on it."""
    random = np.random.default_rng(seed)
    K, C, M = (x @ x.T + 0.1 * np.eye(6) for x in random.normal(size=(3, 6, 6)))
    skew = random.normal(size=(6, 6))
    return K, 0.05 * C, M, pull * (skew - skew.T)


@pytest.mark.parametrize("pull", [1e-3, 0.01, 0.1, 1.0])
def test_what_is_said_to_decay_decays(pull):
    said = 0
    for seed in range(40):
        K, C, M, skew = random_motion(seed, pull)
        whole = np.block([[np.zeros((6, 6)), np.eye(6)], [-np.linalg.solve(M, K + skew), -np.linalg.solve(M, C)]])
        decays = stability._decays(np.linalg.cholesky(K), skew, C, M)
        said += decays
        if decays:
            assert np.max(eigvals(whole).real) < 1e-6
        elif np.max(eigvals(whole).real) < 0.0:
            assert stability._growth(K + skew, C, M, True) == ""  # the long way knows
    assert said > (35 if pull < 0.05 else -1)


def test_cholesky_and_symmetric_parts():
    K = random_motion(3, 0.0)[0]
    factor = stability._is_definite(K, 0.0)
    np.testing.assert_allclose(factor, np.linalg.cholesky(K), rtol=1e-12)
    assert stability._is_definite(K - 1.01 * np.linalg.eigvalsh(K)[0] * np.eye(6)) is None
    even = np.empty((6, 6))
    skew = random_motion(3, 1.0)[3]
    largest, odd = stability._evened(K + skew, even)
    np.testing.assert_allclose(even, K, atol=1e-14)
    assert (largest, odd) == (pytest.approx(np.abs(K + skew).max()), pytest.approx(np.abs(skew).max()))


def test_elastic_forces_of_rods_and_joints_are_those_of_the_model():
    """The quick balance takes them as linear: curved rods, springs of joints with rest places, tapers."""
    robot = ag.Robot("bent")
    rest, rubber = ag.Helix(radius=0.02, pitch=0.05), ag.Material(young=1e6, density=1000.0, damping=0.02)
    first = robot.add(ag.Rod(0.3, ag.Circle(0.01), rubber, ag.kirchhoff(3), rest=rest), at=robot.ground)
    hinge = ag.Revolute((0, 1, 0), stiffness=0.4, rest=0.3)
    robot.add(ag.Rod(0.2, ag.Circle(0.01), rubber, ag.reissner(2)), at=first.tip, joint=hinge)
    model = ag.Model(robot)
    force, stiffness = judging._springs(model)
    q = 0.3 / model.tree.scale * np.random.default_rng(2).normal(size=model.size)
    loads, zero = model.loads().loads, np.zeros(model.size)
    loads.row[model.force_places] = 0.0
    expected = evaluate(model, loads, q, zero, zero, np.zeros(0))
    np.testing.assert_allclose(force + stiffness @ q, expected, rtol=1e-10, atol=1e-12 * np.max(np.abs(expected)))


def test_what_else_acts_is_not_left_out_of_quick_answers():
    robot = ag.Robot("pair")
    rubber = ag.Material(young=1e6, density=1000.0, damping=0.02)
    rods = [
        robot.add(ag.Rod(0.2, ag.Circle(0.01), rubber, ag.kirchhoff(2)), at=robot.ground.offset_by((0, y, 0)))
        for y in (0.0, 0.015)
    ]
    assert stability._resistance(ag.Model(robot)) is not None
    robot.load(ag.Contact(rods[0], rods[1], friction=0.0))
    model = ag.Model(robot)
    assert judging._springs(model) is None and stability._resistance(model) is None


def test_what_was_balanced_last_is_not_taken_for_another_stiffness():
    robot = ag.Robot("arm")
    rubber = ag.Material(young=1e6, density=1000.0, damping=0.02)
    robot.add(ag.Rod(0.3, ag.Circle(0.01), rubber, ag.kirchhoff(3)), at=robot.ground)
    model = ag.Model(robot)
    eq, loads = ag.statics(model), model.loads().loads
    assert judging.balanced(model, loads, eq.q, eq.multipliers, 1e-6)
    assert stability.last_balanced(model, loads, eq.q, eq.multipliers) is not None
    assert stability.last_balanced(model, loads, 1.01 * eq.q, eq.multipliers) is None
    softer = model.with_tree(model.tree._replace(stiffness=0.5 * model.tree.stiffness))
    assert not judging.balanced(softer, loads, eq.q, eq.multipliers, 1e-6)


def test_doubts_about_modes_are_the_largest_of_both_kinds():
    robot = ag.Robot("arm")
    rubber = ag.Material(young=1e6, density=1000.0)
    rod = ag.Rod(0.3, ag.Circle(0.01), rubber, ag.kirchhoff(4))
    robot.add(rod, at=robot.add(rod, at=robot.ground).tip, joint=ag.Revolute("y"))
    model = ag.Model(robot)
    sizes, turns, _ = model.once(resolution._looked_at)
    names = [f"{part}.{strain}" for part in ("rod", "rod_2") for strain in ("twist", "bend_y", "bend_z")]
    strains = [[k for k, label in enumerate(robot.coordinates()) if label.startswith(name)] for name in names]
    assert [len(own) for own in strains] == [4] * 6
    q = np.random.default_rng(3).normal(size=(5, model.size))
    totals = np.stack([np.sum(np.abs(q[:, own]) * turns[own], axis=1) for own in strains], axis=1)
    expected = np.maximum(np.max(np.abs(q) * sizes, axis=1), np.max(totals, axis=1))
    np.testing.assert_allclose(resolution.doubtful(model, q), expected, rtol=1e-14)


def test_a_motion_in_memory_that_another_left_is_the_same_bit_for_bit():
    robot = ag.Robot("arm")
    rubber = ag.Material(young=4e5, density=1000.0, damping=0.02)
    rod = robot.add(ag.Rod(0.3, ag.Circle(0.01), rubber, ag.kirchhoff(3)), at=robot.ground)
    robot.actuate("line", ag.Tendon(rod, ag.parallel(y=0.006)))

    def move(model, pull):
        return ag.simulate(model, duration=0.2, dt=0.01, inputs={"line": pull}, progress=False)

    model = ag.Model(robot)
    other, again = move(model, 3.0), move(model, 1.0)
    fresh = move(ag.Model(robot), 1.0)
    assert np.array_equal(again.q, fresh.q) and np.array_equal(again.v, fresh.v)
    assert again.status.counters == fresh.status.counters
    np.testing.assert_array_equal(
        other.a, move(ag.Model(robot), 3.0).a
    )  # found now, long after its memory was given away


def test_a_motion_that_nobody_judges_is_the_same():
    model = ag.Model(swing(count=2).robot)
    start = np.zeros(5), np.array([0.0, 1.0, 0.5, -1.0, 0.0])
    judged, other = (
        simulate_model(model, duration=0.05, dt=1e-3, start=start, progress=False, judged=judged)
        for judged in (True, False)
    )
    np.testing.assert_array_equal(judged.q, other.q)
    assert judged.quality is not None
    assert other.quality is None
