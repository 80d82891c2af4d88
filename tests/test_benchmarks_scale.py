"""Scale and contact side by side (benchmarks/scale.py): who is compared with whom; the gripper is that of the example."""

import sys
from pathlib import Path

import pytest
import script_modules

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
if not (BENCHMARKS / "scale.py").exists():
    pytest.skip("the benchmarks are not shipped with the tests", allow_module_level=True)
sys.path.insert(0, str(BENCHMARKS))

import grasping  # noqa: E402
import scale  # noqa: E402

OWN = [
    {"peer": "anguilla", "settings": {"modes": 1}, "error": 0.02, "seconds": [0.1], "whole": 0.2},
    {"peer": "anguilla", "settings": {"modes": 2}, "error": 0.008, "seconds": [0.4], "whole": 0.5},
]


def test_times_are_best_median_and_whole_call_of_all_rounds():
    lines = [
        {**OWN[0], "seconds": [seconds], "whole": whole} for seconds, whole in ((0.3, 1.0), (0.1, 2.0), (0.2, 3.0))
    ]
    row = scale.summed(lines)
    assert (row["best"], row["median"], row["runs"], row["call"]) == (0.1, 0.2, 3, 1.0)
    assert (
        scale.summed([OWN[0], {"peer": "anguilla", "settings": {}, "failure": "it stopped"}])["failure"] == "it stopped"
    )


@pytest.mark.parametrize(
    ("error", "within", "ratio"), [(0.005, 0.01, 5.0), (0.015, 0.01, None), (0.03, None, 20.0), (0.005, None, None)]
)
def test_a_peer_is_compared_within_an_error_or_at_its_own(error, within, ratio):
    own = [scale.summed([line]) for line in OWN]
    peer = scale.summed([{"peer": "exudyn", "settings": {}, "error": error, "seconds": [2.0], "whole_seconds": 2.5}])
    found = scale.against(peer, own, within, "best")
    assert found == pytest.approx(ratio) if ratio else found is None


def test_the_table_tells_ratios_and_why_a_program_is_absent():
    case = scale.Case("Chain", lambda repeat: OWN, absent={"mujoco": "it has no loops"})
    peer = {"peer": "exudyn", "settings": {"step": 0.1}, "error": 0.005, "seconds": [2.0], "whole_seconds": 2.5}
    lines = scale.table(case, [scale.summed([line]) for line in (*OWN, peer)])
    assert "| exudyn | step 0.1 | 0.50% | 2 | 2 | 1 | 2.5 | 5 | 5 |" in lines
    assert "| mujoco | | not modelled: it has no loops | | | | | | |" in lines


def test_the_gripper_is_that_of_the_example():
    example = script_modules.load("gripper")
    ball = example.THINGS["ball"]
    assert (grasping.FINGER, grasping.MASS, grasping.LIFT) == (example.FINGER, example.MASS, example.LIFT)
    assert (grasping.GRASP, grasping.RAISE, grasping.FRICTION) == (example.GRASP, example.RAISE, example.FRICTION)
    assert (2 * grasping.BALL, grasping.PALM, grasping.THICK) == (ball.size, ball.palm, ball.thick)
    assert (grasping.APART, grasping.PULL) == (ball.apart, ball.pull)
    assert grasping.OFFSET == pytest.approx(0.7 * ball.thick)
    finger = example.gripper("ball", 0.8, 1.0).part("finger0").rod
    assert (finger.material.young, finger.material.density) == (grasping.YOUNG, grasping.DENSITY)
    assert finger.material.damping == grasping.DAMPING
    assert [grasping.smoothly(t, (0.0, 2.0)) for t in (-1.0, 1.0, 3.0)] == [0.0, 0.5, 1.0]
