"""The README stays short. What it shows is run by test_docs_blocks."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_is_short():
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    assert len([line for line in code.splitlines() if line.strip()]) <= 16
    assert len(TEXT.splitlines()) <= 80


def test_its_ratios_are_those_of_the_benchmarks():
    rods, arm = (int(number) for number in re.findall(r"more than (\d+) times", TEXT))
    ratios = json.loads((ROOT / "docs/benchmarks.json").read_text(encoding="utf-8"))["ratios"]
    of_rods = [
        ratio
        for case, ratio in ratios.items()
        if case.startswith(("soft,", "stiff200,", "stiff,", "flying,")) and not case.endswith("whole call")
    ]
    whole = [ratios[case] for case in ratios if case.startswith(("soft,", "stiff")) and case.endswith(", whole call")]
    assert len(of_rods) > 10
    assert min(of_rods) > rods
    assert min(whole) > 1.0 and "no slower" in TEXT
    assert ratios["tendon, best peer"] > arm


def test_its_first_picture_is_there():
    first = re.search(r"!\[.*?\]\((.*?)\)", TEXT)
    assert (ROOT / first[1]).exists()
