"""Cases of other programs, remade (validation/peers): each agrees with what its authors publish or their programs give."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from script_modules import script

FOLDER = Path(__file__).parents[1] / "validation" / "peers"


BEFORE = sys.path[:]
RUN = script(FOLDER / "run.py", "validation_peers_run")  # which puts its folder on the path
sys.path[:] = BEFORE

ALL = [(peer, case) for peer, cases in RUN.TABLES.items() for case in cases]
LONG = {
    "rolling down a slope",
    "slipping down a slope",
    "frequencies of a supported beam",
    "dead distributed load",
    "double four-bar",
    "Princeton beam, 8.896 N",
}


def marked(peer, case):
    marks = [pytest.mark.xdist_group("peers_cases")]
    if case.slow or case.name in LONG:
        marks.append(pytest.mark.slow)
    return pytest.param(case, id=f"{peer}: {case.name}", marks=marks)


@pytest.mark.parametrize("case", [marked(*one) for one in ALL if one[1].solve])
def test_a_case_agrees(case):
    outcome = RUN.compare(case, RUN.stored(), warm=False)
    assert outcome.off is not None or outcome.off_peer is not None
    assert outcome.agrees, RUN.told("", outcome)
    allowed = ("redundant", "too few modes")  # an overconstrained linkage says so, and an arm of constant strains
    assert all(any(word in text for word in allowed) for text in outcome.said), outcome.said


def test_there_are_25_cases_and_every_other_one_has_its_reason():
    assert sum(case.solve is not None for _, case in ALL) >= 25
    assert all(case.note for _, case in ALL if case.solve is None)
    assert len({(peer, case.name) for peer, case in ALL}) == len(ALL)


def test_a_wrong_number_is_told():
    """The comparison is not blind: a case with a number changed by one percent disagrees."""
    case = next(case for _, case in ALL if case.name == "cantilever, large load")
    wrong = RUN.exudyn_cases.Case(
        case.name, case.source, case.what, case.solve, {"ux": 0.15097103, "uy": 0.71767}, case.tolerance
    )
    assert not RUN.compare(wrong, {}, warm=False).agrees


def test_every_case_that_a_program_solved_is_there():
    names = {case.name for _, case in ALL}
    assert set(RUN.stored()) <= names
