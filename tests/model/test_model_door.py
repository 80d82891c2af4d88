"""The door of all solvers: a robot is compiled again when, and only when, its description has changed."""

import copy
import dataclasses
import gc
import importlib
import pickle
import pkgutil
import warnings
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

import anguilla as ag
import anguilla.describe
import anguilla.interact
from anguilla.model.door import model_of
from anguilla.model.watch import Watch

RUBBER = {"young": 1e6, "poisson": 0.45, "density": 1000.0, "damping": 0.01}
STIFF = 1.0  # a global that a function below refers to


def arm(**given):
    robot = ag.Robot("arm", gravity=(0.0, -9.81, 0.0))
    rod = ag.Rod(0.4, ag.Circle(0.012), ag.Material(**RUBBER), ag.planar(3), **given)
    part = robot.add(rod, at=robot.ground, name="arm")
    robot.actuate("pull", ag.Tendon(part, ag.parallel(y=0.005)))
    return robot


def rows(x):
    return STIFF * np.array([1e-3, 2e-3, 2e-3, 50.0, 20.0, 20.0])


def descriptions():
    """Every dataclass of a description."""
    for room in (anguilla.describe, anguilla.interact):
        for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
            for thing in vars(importlib.import_module(module.name)).values():
                if isinstance(thing, type) and dataclasses.is_dataclass(thing) and thing.__module__ == module.name:
                    yield thing


FIELDS = [(kind, field.name) for kind in descriptions() for field in dataclasses.fields(kind)]


def test_there_are_descriptions():
    assert {ag.Rod, ag.Material, ag.Tendon, ag.Contact, ag.Revolute, ag.Frame} <= {kind for kind, _ in FIELDS}
    assert len(FIELDS) > 150


@pytest.mark.parametrize(("kind", "name"), FIELDS, ids=lambda x: getattr(x, "__name__", x))
def test_a_change_of_any_field_of_any_description_is_seen(kind, name):
    thing = object.__new__(kind)
    for field in dataclasses.fields(kind):
        object.__setattr__(thing, field.name, np.arange(3.0))
    watch = Watch({"deep": (thing,)})
    assert watch.unchanged
    object.__getattribute__(thing, name)[1] = 7.0
    assert not watch.unchanged  # in place
    object.__getattribute__(thing, name)[1] = 1.0
    assert watch.unchanged
    object.__setattr__(thing, name, 3.0)
    assert not watch.unchanged


def _set(path, value):
    def change(robot):
        *way, name = path.split(".")
        thing = robot
        for step in way:
            thing = (
                thing[int(step)] if step.isdigit() else thing[step] if isinstance(thing, dict) else getattr(thing, step)
            )
        setattr(thing, name, value)

    return change


CHANGES = {
    "material": _set("parts.0.rod.material.young", 2e6),
    "length": _set("parts.0.rod.length", 0.5),
    "section": _set("parts.0.rod.section.radius", 0.01),
    "strains": _set("parts.0.rod.strains", ag.planar(4)),
    "another equal material": _set("parts.0.rod.material", ag.Material(**RUBBER)),
    "gravity": _set("gravity", (0.0, -1.0, 0.0)),
    "gravity of a function": _set("gravity", lambda t: (0.0, 0.0, -t)),
    "joint": lambda robot: setattr(robot.parts[0], "joint", ag.Revolute((0, 0, 1))),
    "name": _set("name", "other"),
    "tendon": _set("actuators.pull.friction", 0.1),
    "load": lambda robot: robot.load(ag.TipWrench(robot.parts[0], force=(0, 1, 0))),
    "actuator": lambda robot: robot.actuate("push", ag.Tendon(robot.parts[0], ag.parallel(y=-0.005))),
    "part": lambda robot: robot.add(ag.RigidBody.sphere(0.01, mass=0.1), at=robot.parts[0].tip),
    "closure": lambda robot: robot.close(robot.parts[0].tip, robot.ground.offset_by((0.3, 0.0, 0.0))),
    "constraint": lambda robot: robot.constrain(ag.no_slip(robot.parts[0].tip, (0, 1, 0))),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_robot_is_compiled_again(change):
    robot = arm()
    before = model_of(robot)
    assert model_of(robot) is before
    change(robot)
    after = model_of(robot)
    assert after is not before and model_of(robot) is after
    fresh = ag.Model(robot)
    q = 0.1 * np.arange(1.0, 1.0 + fresh.size)
    np.testing.assert_array_equal(after.residual(q), fresh.residual(q))


def test_what_functions_refer_to_is_part_of_the_description(monkeypatch):
    k, factors = 1.0, [1.0]

    class Stiffness:
        def __init__(self):
            self.k = 1.0

        def __call__(self, x):
            return self.k * rows(x)

    own = Stiffness()
    kinds = {
        "global": rows,
        "closure": lambda x: k * rows(x),
        "list": lambda x: factors[0] * rows(x),
        "object": own,
        "method": own.__call__,
        "partial": partial(lambda f, x: f[0] * rows(x), factors),
        "default": lambda x, f=factors: f[0] * rows(x),
    }
    robots = {name: arm(stiffness=function) for name, function in kinds.items()}
    for name, robot in robots.items():
        assert model_of(robot) is model_of(robot), name
    soft = {name: ag.statics(robot).q for name, robot in robots.items()}
    monkeypatch.setitem(globals(), "STIFF", 2.0)
    for robot in robots.values():
        assert ag.statics(robot).q == pytest.approx(ag.statics(ag.Model(robot)).q, abs=1e-14)
        assert not np.allclose(ag.statics(robot).q, soft["global"], rtol=0.1)
    monkeypatch.setitem(globals(), "STIFF", 1.0)
    for robot in robots.values():
        model_of(robot)
    k = 2.0
    assert not np.allclose(ag.statics(robots["closure"]).q, soft["closure"], rtol=0.1)
    own.k = 2.0
    for name in ("object", "method"):
        assert not np.allclose(ag.statics(robots[name]).q, soft[name], rtol=0.1), name
    factors[0] = 2.0
    for name in ("list", "partial", "default"):
        assert not np.allclose(ag.statics(robots[name]).q, soft[name], rtol=0.1), name


def test_what_cannot_be_looked_at_is_compiled_again():
    values = iter(range(1, 1000))  # an iterator hides its state
    robot = arm(stiffness=lambda x: rows(x) * (1.0 + 0.0 * next(values)))
    assert model_of(robot) is not model_of(robot)


def test_a_look_takes_microseconds():
    from time import perf_counter

    robot = arm()
    for k in range(6):
        robot.actuate(f"pull{k}", ag.Tendon(robot.parts[0], ag.parallel(y=0.001 * (k + 1))))
    model_of(robot)
    times = []
    for _ in range(50):
        began = perf_counter()
        model_of(robot)
        times.append(perf_counter() - began)
    assert min(times) < 2e-4


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda robot: pickle.loads(pickle.dumps(robot))])
def test_a_copy_of_a_robot_has_a_model_of_its_own(copied):
    robot = arm()
    model = model_of(robot)
    twin = copied(robot)
    assert twin.kept is None and model_of(twin) is not model
    assert model_of(robot) is model


def test_a_robot_and_its_model_are_let_go():
    robot = arm()
    model, robot = weakref.ref(model_of(robot)), weakref.ref(robot)
    gc.collect()
    assert robot() is None and model() is None


def solved(what):
    """Numbers from every solver that takes a robot or a model."""
    held = ag.statics(what, inputs={"pull": 2.0})
    yield held.q
    yield held.tension("pull")
    run = ag.simulate(what, duration=0.02, dt=0.002, inputs={"pull": 1.0}, start=held)
    yield run.q
    yield run.a
    yield ag.simulate_explicit(what, duration=0.004, dt=0.002).q
    yield ag.simulate_batch(what, duration=0.01, dt=0.002, inputs=[{"pull": 1.0}, None], threads=2)[0].q
    stepper = ag.Stepper(what, dt=0.002, inputs={"pull": 1.0})
    stepper.step(3)
    yield stepper.q
    yield ag.modes(what, held).frequencies
    yield ag.modes(what).frequencies
    yield ag.stability(what, held).eigenvalues
    yield ag.linearise(what, held).A
    for of in (ag.mass_matrix, ag.coriolis_matrix, ag.bias_forces, ag.gravity_forces, ag.stiffness, ag.damping):
        yield of(what, held.q)
    yield ag.actuation_matrix(what, held.q)
    yield ag.forward_dynamics(what, held.q).a
    yield ag.trace(what, factors=(0.0, 1.0), inputs={"pull": lambda s: s}, points=4, raise_on_failure=False).q
    yield ag.gradient(held, ag.Reach(held.robot.parts[0].tip, (0.3, 0.1, 0.0))).inputs["pull"]


@pytest.mark.filterwarnings("ignore::anguilla.AnguillaWarning")
def test_answers_with_a_robot_its_model_and_a_fresh_robot_are_the_same():
    robot = arm()
    model = ag.Model(robot)
    for kept, given, fresh in zip(solved(robot), solved(model), solved(arm()), strict=True):
        np.testing.assert_array_equal(kept, fresh)
        np.testing.assert_array_equal(given, fresh)


def test_results_of_a_model_understand_frames_of_its_robot():
    robot = arm()
    rod = robot.parts[0]
    one, two = ag.statics(robot), ag.statics(ag.Model(robot))
    np.testing.assert_array_equal(one.position(rod.section(0.1)), two.position(rod.section(0.1)))
    assert two.robot is robot


def rubbing():
    """An arm whose tendon rubs and whose tip is held in place by a thruster that integrates: both remember."""
    robot = arm()
    robot.actuators["pull"].friction = 0.2
    return robot


def test_steppers_of_one_robot_do_not_disturb_each_other():
    def alone(pull):
        stepper = ag.Stepper(rubbing(), dt=0.002, inputs={"pull": pull})
        stepper.step(20)
        return stepper.q

    robot = rubbing()
    both = [ag.Stepper(robot, dt=0.002, inputs={"pull": pull}) for pull in (1.0, 3.0)]
    for _ in range(20):
        for stepper in both:
            stepper.step()
            ag.statics(robot, inputs={"pull": 0.5})
            stepper.result().tension("pull")
    for stepper, pull in zip(both, (1.0, 3.0), strict=True):
        np.testing.assert_array_equal(stepper.q, alone(pull))


def test_what_was_computed_before_does_not_matter():
    def ask(robot):
        return ag.statics(robot, inputs={"pull": 4.0}).q

    robot = rubbing()
    first = ask(robot)
    ag.simulate(robot, duration=0.02, dt=0.002, inputs={"pull": 1.0})
    ag.statics(robot, inputs={"pull": 9.0})
    np.testing.assert_array_equal(ask(robot), first)


def test_threads_share_a_robot():
    robot = arm()
    pulls = np.linspace(0.0, 5.0, 12)
    alone = [ag.statics(arm(), inputs={"pull": pull}).q for pull in pulls]

    def one(pull):
        held = ag.statics(robot, inputs={"pull": pull})
        run = ag.simulate(robot, duration=0.01, dt=0.002, start=held, inputs={"pull": pull})
        return held.q, np.abs(run.q - held.q).max()

    with ThreadPoolExecutor(4) as pool:
        for (q, moved), right in zip(pool.map(one, pulls), alone, strict=True):
            np.testing.assert_array_equal(q, right)
            assert moved < 1e-8


def test_a_load_of_the_user_may_ask_solvers_of_the_same_robot():
    robot, inner = arm(), []
    frame = robot.parts[0].tip

    def wrench(motion, t):
        if not inner:
            inner.append(None)
            inner[0] = ag.statics(other, inputs={"pull": 1.0}).position(other.parts[0].tip)
        return np.array([0.0, 0.0, 0.0, 0.0, 0.1, 0.0])

    other = robot
    ag.statics(robot)
    robot.load(ag.UserLoad(frame, wrench))
    plain = arm()
    plain.load(ag.TipWrench(plain.parts[0], force=(0.0, 0.1, 0.0)))
    assert ag.statics(robot).q == pytest.approx(ag.statics(plain).q, abs=1e-9)
    assert len(inner) == 1


def loops():
    """A closed robot in space with redundant constraints."""
    robot = ag.Robot("four_bar")
    hinge, bar = ag.Revolute((0, 0, 1)), ag.RigidBody.box((0.2, 0.02, 0.02), mass=0.1)
    a = robot.add(bar, at=robot.ground, joint=hinge)
    b = robot.add(bar, at=a.at((0.2, 0.0, 0.0)), joint=hinge)
    c = robot.add(bar, at=robot.ground.offset_by((0.2, 0.0, 0.0)), joint=ag.Revolute((0, 0, 1), stiffness=1.0))
    robot.close(b.at((0.2, 0.0, 0.0)), c.at((0.2, 0.0, 0.0)), joint=hinge)
    return robot


def test_a_model_without_redundant_constraints_is_another_model():
    model = ag.Model(loops())
    less = model.without(np.array([2, 3]))
    assert (model.rows, less.rows) == (5, 3) and model.without(np.array([2, 3])) is less
    assert model.left_out is None and list(less.left_out[1]) == [2, 3]
    q = np.array([0.7, -0.4, 0.2])
    J, part = model.constraints(q)[1], less.constraints(q)[1]
    np.testing.assert_array_equal(J[[0, 1, 4]], part)


class Own(Callable):
    """A class of the user's own, with a constant that its functions use."""

    factor = 1.0

    def __call__(self, x):
        return Own.factor * rows(x)


def test_constants_of_a_class_of_the_user_are_part_of_the_description(monkeypatch):
    watch = Watch(Own())
    assert watch.unchanged
    monkeypatch.setattr(Own, "factor", 2.0)
    assert not watch.unchanged


def test_objects_of_libraries_are_looked_at():
    from scipy.interpolate import CubicSpline, PchipInterpolator

    for kind in (CubicSpline, PchipInterpolator):
        spline = kind([0.0, 1.0, 2.0], [0.0, 1.0, 0.0])
        watch = Watch(spline)
        assert watch.unchanged
        spline.c[0, 0] += 1.0
        assert not watch.unchanged
    assert Watch(np.linspace).unchanged and Watch(lambda x: np.interp(x, [0, 1], [1, 2])).unchanged
    assert not Watch(np.random.default_rng(0)).unchanged  # its state is hidden


def test_what_more_modes_are_wanted_for_is_said_however_one_comes_there():
    """A loop of equilibria is judged by the last that was well resolved; one that is not must be told all the same."""

    def told(robot, t, start=None):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            held = ag.statics(robot, t=t, start=start)
        return [str(one.message) for one in found], held

    robot = ag.Robot("arm", gravity=(0.0, 0.0, 0.0))
    rod = robot.add(ag.Rod(0.5, ag.Circle(0.01), ag.Material(**RUBBER), ag.planar(1)), at=robot.ground, name="arm")
    robot.load(ag.TipWrench(rod, force=lambda t: (0.0, t, 0.0)))
    held, heard = None, []
    for t in np.geomspace(0.01, 3.0, 60):
        words, held = told(robot, t, held)
        heard.append(bool(words))
        assert bool(words) == bool(held.resolution.words), t
    assert any(heard) and not all(heard)  # both happen on the way


def test_what_moves_from_one_list_to_the_next_is_seen():
    """Looked at one behind the other, the two lists read the same before and after."""
    thing = {"one": [1.5], "two": []}
    watch = Watch(thing)
    assert watch.unchanged
    thing["two"].append(thing["one"].pop())
    assert not watch.unchanged
