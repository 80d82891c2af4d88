"""The page on robot files tells of everything, and shows mistakes as they look."""

import re
from pathlib import Path

import pytest

from anguilla.files import FileError, read_file

ROOT = Path(__file__).parents[2]
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("robot_files",)}


def blocks(page, kind):
    return re.findall(rf"```{kind}\n(.*?)```", PAGES[page], re.S)


def test_mistakes_look_as_the_page_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = blocks("robot_files", "yaml")[0].replace("young: 4e5", "young: -4e5").replace("at: arm.tip", "at: amr.tip")
    Path("arm.yaml").write_text(text)
    with pytest.raises(FileError) as caught:
        read_file("arm.yaml")
    (shown,) = blocks("robot_files", "text")
    assert str(caught.value) == shown.strip()


def test_all_sections_and_functions_are_documented():
    from anguilla.files.expressions import FUNCTIONS
    from anguilla.files.read import SECTIONS

    for section in SECTIONS:
        assert f"`{section}`" in PAGES["robot_files"], section
    for function in FUNCTIONS:
        assert re.search(rf"\b{function}\b", PAGES["robot_files"]), function
