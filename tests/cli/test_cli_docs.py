"""What the pages on files and commands show, works."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from anguilla.cli import main
from anguilla.describe.files import FileError, read_file

ROOT = Path(__file__).parents[2]
PAGES = {name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("robot_files", "command_line")}


def blocks(page, kind):
    return re.findall(rf"```{kind}\n(.*?)```", PAGES[page], re.S)


def commands(page):
    return [line for block in blocks(page, "sh") for line in block.splitlines() if line.strip()]


def test_commands_run_in_the_order_of_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert len(commands("command_line")) > 15
    for line in commands("command_line"):
        program, *arguments = shlex.split(line)
        assert program == "anguilla"
        if arguments[0] == "view":
            pytest.importorskip("viser")
            arguments += ["--seconds", "0.1"]
        assert main(arguments) == 0, (line, capsys.readouterr().err)
    for code in blocks("command_line", "python"):
        exec(compile(code, "command_line.md", "exec"), {})
    assert "trajectory" in capsys.readouterr().out


def test_files_of_the_page_are_robots(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples" / "robots" / "two_link.urdf", tmp_path)
    texts = blocks("robot_files", "yaml")
    assert len(texts) == 3
    for text in texts:
        Path("arm.yaml").write_text(text)
        read_file("arm.yaml")
    Path("arm.yaml").write_text(texts[0])
    for code in blocks("robot_files", "python"):
        names = {}
        exec(compile(code, "robot_files.md", "exec"), names)
        assert names["robot"].part("arm").length == 0.5
    assert read_file("longer.yaml").robot.part("arm").length == 0.5


def test_mistakes_look_as_the_page_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = blocks("robot_files", "yaml")[0].replace("young: 4e5", "young: -4e5").replace("at: arm.tip", "at: amr.tip")
    Path("arm.yaml").write_text(text)
    with pytest.raises(FileError) as caught:
        read_file("arm.yaml")
    (shown,) = blocks("robot_files", "text")
    assert str(caught.value) == shown.strip()


def test_all_sections_and_functions_are_documented():
    from anguilla.describe.files.expressions import FUNCTIONS
    from anguilla.describe.files.read import SECTIONS

    for section in SECTIONS:
        assert f"`{section}`" in PAGES["robot_files"], section
    for function in FUNCTIONS:
        assert re.search(rf"\b{function}\b", PAGES["robot_files"]), function


def test_commands_of_the_readme_exist():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for command in re.findall(r"^anguilla (\w+)", text, re.M):
        assert main([command, "--help"]) == 0
