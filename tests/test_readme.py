"""The README stays short. What it shows is run by test_docs_blocks."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_is_short():
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    assert len([line for line in code.splitlines() if line.strip()]) <= 16
    assert len(TEXT.splitlines()) <= 80


def test_its_first_picture_is_there():
    first = re.search(r"!\[.*?\]\((.*?)\)", TEXT)
    assert (ROOT / first[1]).exists()
