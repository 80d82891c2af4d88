"""Shrinking, the watched processes, resuming and the table."""

import generate
import pretend
import report
import shrink
import workers
from script_modules import ROOT, script

run = script(ROOT / "soak" / "run.py", "soak_run")  # benchmarks have a run.py too


def test_shrinking_leaves_what_the_fault_needs():
    spec = next(s for s in (generate.robot(5, k) for k in range(99)) if len(s["parts"]) > 3 and len(s["loads"]) > 1)
    wanted = spec["loads"][-1]["call"]
    small = shrink.shrink(spec, lambda trial: any(load["call"] == wanted for load in trial["loads"]))
    assert len(small["loads"]) == 1 and small["loads"][0]["call"] == wanted
    assert len(small["parts"]) <= 3 and not small["closures"] and not small["actuators"]
    assert small["motion"]["steps"] <= 4
    text = shrink.script(small, ("motion", "wrong", ""), "off")
    compile(text, "found.py", "exec")


def test_a_worker_that_hangs_or_dies_is_replaced():
    found = list(workers.records(1, list(range(7)), 2, patience=1.0, work=pretend.work))
    outcomes = {record["index"]: record["outcome"] for record in found}
    assert outcomes == {0: "right", 1: "right", 2: "hang", 3: "right", 4: "crash", 5: "right", 6: "right"}


def test_a_killed_campaign_goes_on_after_the_last_whole_line(tmp_path):
    out = tmp_path / "soak.jsonl"
    out.write_text('{"seed": 1, "index": 0}\n{"seed": 1, "index": 1}\n{"seed": 1, "ind')
    assert set(run.done(out, 1)) == {0, 1}
    assert out.read_text().endswith('"index": 1}\n')


def test_reasons_are_counted_without_names_and_numbers():
    one = report.reason_kind("No equilibrium of 'robot_1_2': stopped at 0.25 of the load: it breaks. Try more.")
    two = report.reason_kind("No equilibrium of 'robot_9': stopped at 1e-05 of the load: it breaks. Try less.")
    assert one == two == "stopped at # of the load: it breaks"
    rows = [
        {"index": 0, "seconds": 0.1, "outcome": "right", "motion": {"outcome": "right", "reason": "", "error": 0.001}},
        {
            "index": 1,
            "seconds": 0.3,
            "outcome": "wrong",
            "motion": {"outcome": "wrong", "reason": "off by 0.1", "error": 0.1},
        },
    ]
    text = report.table(rows, 1, 60.0, 2)
    assert "| wrong | 1 | 50.0 % | 0 | 1 |" in text and "0 of 1 flagged" in text
