"""The verifier catches answers that are wrong on purpose."""

import dataclasses
import warnings

import numpy as np
import pytest
import stability
import verify
from describe import build

import anguilla as ag

RUBBER = {"call": "Material", "young": 1e7, "density": 1000.0}
ROD = {"call": "Rod", "length": 0.5, "section": {"call": "Circle", "radius": 0.02}, "material": RUBBER}
ROD["strains"] = {"call": "kirchhoff", "args": [3]}
SPEC = {
    "name": "arm", "gravity": [0.0, 0.0, -9.81], "closures": [], "actuators": [], "statics": True, "length": 0.5,
    "parts": [{"name": "p0", "what": ROD, "at": "robot.ground", "reach": 0.5}], "pace": 0.07,
    "loads": [{"call": "Wrench", "args": [{"code": "p0.tip"}], "force": [0.0, 0.5, 0.0]}],
    "motion": {"dt": 0.005, "steps": 30, "start": "rest"},
}  # fmt: skip


def test_right_answers_are_right():
    record = verify.judge(SPEC)
    assert record["outcome"] == "right", record["reason"]
    assert record["motion"]["gained"] < 0.01 and record["motion"]["error"] < 0.02
    assert record["statics"]["growth"] == 0.0


@pytest.mark.parametrize("factor", [-1.0, 1.02])
def test_an_equilibrium_of_the_wrong_sign_or_out_of_balance(monkeypatch, factor):
    statics = ag.statics
    wrong = lambda *given, **more: dataclasses.replace(eq := statics(*given, **more), _q=factor * eq._q)
    monkeypatch.setattr(ag, "statics", wrong)
    record = verify.judge(SPEC)
    assert record["outcome"] == "wrong" and "unbalanced" in record["reason"]


@pytest.mark.filterwarnings("ignore:The equilibrium of 'arm' is unstable")
def test_a_column_that_would_fall_unsaid():
    heavy = {**ROD, "material": {**RUBBER, "young": 1e5}}
    turn = {"call": "place", "args": [[0.0, -np.pi / 2, 0.0], [0.0, 0.0, 0.0]]}
    spec = {**SPEC, "loads": [], "parts": [{**SPEC["parts"][0], "what": heavy, "pose": turn}]}
    made = build(spec)
    q = np.zeros((1, made.robot.size))
    straight = dataclasses.replace(ag.statics(made.robot), _q=q)
    straight = dataclasses.replace(straight, status=dataclasses.replace(straight.status, message="converged"))
    assert any("unstable" in fault for fault in verify.equilibrium_faults(made, straight, [], {}))


def leaning(by, given):
    """A column too heavy for itself that leans away from a line, which holds it back by its length, or by its tension."""
    heavy = {**ROD, "material": {**RUBBER, "young": 1e6}, "strains": {"call": "planar", "args": [3]}}
    turn = {"call": "place", "args": [[0.0, -np.pi / 2, 0.0], [0.0, 0.0, 0.0]]}
    side = [{"call": "Wrench", "args": [{"code": "p0.tip"}], "force": [0.0, -0.001, 0.0]}]
    line = {"call": "Tendon", "args": [{"code": "p0"}, {"call": "parallel", "y": 0.016}], "by": by}
    parts = [{**SPEC["parts"][0], "what": heavy, "pose": turn}]
    return build({**SPEC, "loads": side, "parts": parts, "actuators": [{"name": "line", "what": line, "input": given}]})


def test_a_line_of_given_length_holds_what_its_tension_alone_would_let_fall():
    made = leaning("length", 0.5 + 0.016 * 0.3)  # its tip turns by 0.3 rad
    eq = ag.statics(made.robot, inputs=made.inputs)
    tension = float(eq.multipliers[0])
    assert tension > 0.1
    K, J, _ = stability.linearised(made, eq)
    exact = eq.system.evaluate(eq.q, multipliers=eq.multipliers, inputs=made.inputs)
    assert K == pytest.approx(exact.K, abs=1e-7 * np.max(np.abs(exact.K)))
    assert J[0] == pytest.approx([-0.016 * 0.5, 0.0, 0.0], abs=1e-9)  # the line sees the turn of the tip
    assert verify.instability(made, eq) == 0.0
    pulled = leaning("tension", tension)
    same = ag.statics(pulled.robot, inputs=pulled.inputs, start=eq.q)
    assert np.allclose(same.q, eq.q, atol=1e-6)
    assert verify.instability(pulled, same) > 0.05


def arch():
    """A flat rod between two balls, 2 % nearer than its length: nothing acts on it, and half of its modes stay zero."""
    ends = [[1.0, 0.0, 0.0, 0.49], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    loop = {"a": "robot.ground", "b": "p0.tip", "joint": {"call": "Spherical"}, "pose": ends}
    flat = {**SPEC["parts"][0], "what": {**ROD, "strains": {"call": "planar", "args": [5]}}}
    flat["joint"] = {"call": "Revolute", "axis": [0.0, 0.0, 1.0]}
    return build({**SPEC, "gravity": [0.0, 0.0, 0.0], "loads": [], "closures": [loop], "parts": [flat]})


def test_round_off_beside_what_bends_other_modes_is_balanced():
    made = arch()
    eq = ag.statics(made.robot)
    assert np.max(np.abs(eq.q[1:])) > 0.1
    for size, balanced in ((1e-15, True), (1e-3, False)):  # of the second mode, which is not bent
        q = eq.q.copy()
        q[2] += size
        off = verify.imbalance(made, dataclasses.replace(eq, _q=q[None]))
        assert (off < verify.BALANCED) == balanced


def test_what_a_closure_holds_is_found_also_where_it_bears_next_to_nothing():
    made = arch()
    eq = ag.statics(made.robot)
    tiny = dataclasses.replace(eq, _lam=eq._lam * [[1.0, *(eq._lam.shape[1] - 1) * [1e-20]]])
    _, J, B = stability.linearised(made, tiny)
    assert B == pytest.approx(-J, abs=1e-7)


def test_a_motion_with_a_wrong_step(monkeypatch):
    simulate = ag.simulate

    def hasty(robot, *, dt, duration, every, **more):
        stretch = 1.05 if every == 1 else 1.0
        run = simulate(robot, dt=stretch * dt, duration=stretch * duration, every=every, **more)
        return dataclasses.replace(run, _t=run._t / stretch)

    soft = {**ROD, "material": {**RUBBER, "young": 1e6}}  # falls by much of its length
    spec = {**SPEC, "statics": False, "parts": [{**SPEC["parts"][0], "what": soft}]}
    spec["motion"] = {"dt": 0.01, "steps": 40, "start": "rest"}
    assert verify.judge(spec)["outcome"] == "right"
    monkeypatch.setattr(ag, "simulate", hasty)
    record = verify.judge(spec)
    assert record["outcome"] == "wrong" and "off by" in record["reason"]


def test_energy_from_nothing_and_a_loop_that_opens():
    made = build({**SPEC, "statics": False})
    run = ag.simulate(made.robot, duration=0.15, dt=0.005)
    grown = dataclasses.replace(run, _v=run._v * np.linspace(1.0, 1.5, len(run._v))[:, None])
    assert verify.energy_gained(made, run) < 0.01
    assert verify.energy_gained(made, grown) > 0.1
    ends = [[1.0, 0.0, 0.0, 0.5], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    loop = {"a": "robot.ground", "b": "p0.tip", "joint": {"call": "Spherical"}, "pose": ends}
    clamped = {**SPEC["parts"][0], "what": {**ROD, "strains": {"call": "extensible_kirchhoff", "args": [3]}}}
    closed = build({**SPEC, "closures": [loop], "parts": [clamped]})
    run = ag.simulate(closed.robot, duration=0.02, dt=0.005)
    assert verify.open_by(closed, run) < 1e-9
    assert verify.open_by(closed, dataclasses.replace(run, _q=1.1 * run._q + 0.1)) > 0.001


def test_a_warning_of_something_else_does_not_excuse_a_wrong_answer(monkeypatch):
    statics = ag.statics

    def wrong(*given, **more):
        warnings.warn("2 of 5 constraints are redundant", ag.AnguillaWarning, stacklevel=2)
        return dataclasses.replace(eq := statics(*given, **more), _q=-eq._q)

    monkeypatch.setattr(ag, "statics", wrong)
    assert verify.judge(SPEC)["statics"]["outcome"] == "wrong"


def test_a_word_of_the_judge_makes_a_wrong_motion_a_said_one():
    """Ten steps in a period are too few, and the library says so; the same motion would be wrong without its word."""
    spec = {**SPEC, "statics": False, "motion": {"dt": 0.03, "steps": 30, "start": "rest"}}
    assert verify.judge(spec)["motion"]["outcome"] == "said"
    assert verify._verdict(["off by 3e-2 of the length"], ["2 of 5 constraints are redundant"])[0] == "wrong"


def test_refusals_and_crashes(monkeypatch):
    def refuse(*given, **more):
        raise ag.SolverError("no equilibrium")

    monkeypatch.setattr(ag, "statics", refuse)
    assert verify.judge(SPEC)["outcome"] == "refused"

    def crash(*given, **more):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(ag, "statics", crash)
    assert verify.judge(SPEC)["outcome"] == "crash"
