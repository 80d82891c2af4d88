"""Every page does what it shows: Python blocks run in order and share their names, commands run, files are robots."""

import re
import shlex
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

from anguilla.cli import main

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(p for p in (ROOT / "docs").rglob("*.md") if "_build" not in p.parts)])
BLOCK = re.compile(r"^```(python|sh|yaml)\n(.*?)^```", re.S | re.M)
TARGETS = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)


def blocks(page):
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def missing(text):
    """Whether a block needs a library that is optional and absent."""
    return any(f"import {name}\n" in text and find_spec(name) is None for name in ("torch", "jax"))


def shell(line, page):
    """Run a command of a page, or see that what it names is there."""
    program, *arguments = shlex.split(line, comments=True)
    if program == "make":
        assert arguments[0] in TARGETS, line
        return
    assert program == "anguilla", f"{page.name}: {line}"
    if arguments[0] == "view":
        pytest.importorskip("viser")
        arguments += ["--seconds", "0.1"]
    assert main(arguments) == 0, f"{page.name}: {line}"


@pytest.mark.parametrize(
    "page",
    [pytest.param(p, id=p.relative_to(ROOT).as_posix()) for p in PAGES if blocks(p) and "generated" not in p.parts],
)
def test_a_page_does_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "examples" / "robots" / "two_link.urdf", tmp_path)
    names: dict[str, object] = {"__name__": page.stem}
    for number, (kind, text) in enumerate(blocks(page)):
        if kind == "python":
            if not missing(text):
                exec(compile(text, f"{page.name}, block {number + 1}", "exec"), names)
        elif kind == "yaml":
            file = re.match(r"# (\w+\.yaml)\n", text)
            path = Path(file[1] if file else f"block_{number}.yaml")
            path.write_text(text)
            assert main(["check", str(path)]) == 0
        else:
            for line in text.splitlines():
                if line.strip():
                    shell(line, page)


def test_commands_in_a_sentence_name_commands_that_are_there():
    for page in PAGES:
        for command in re.findall(r"`anguilla ([a-z]+)", page.read_text(encoding="utf-8")):
            assert main([command, "--help"]) == 0, f"{page.name}: anguilla {command}"


def test_links_and_pictures_of_all_pages_exist():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
        for path in re.findall(r"`(examples/[\w/]+\.(?:py|yaml))`", page.read_text(encoding="utf-8")):
            assert (ROOT / path).exists(), f"{page.name}: {path}"


def test_pictures_are_small():
    for picture in (ROOT / "docs").rglob("*.png"):
        if "_build" not in picture.parts:
            assert picture.stat().st_size < 300_000, picture.name
    films = [path for path in (ROOT / "docs").rglob("*.webp") if "_build" not in path.parts]
    assert films and all(path.stat().st_size < 200_000 for path in films)
    assert sum(path.stat().st_size for path in films) < 3_000_000


def test_every_public_name_is_in_the_reference(tmp_path):
    import importlib.util

    import anguilla as ag

    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    generate.write(tmp_path)
    text = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "api").glob("*.md"))
    for name in set(ag.__all__) - {"__version__"}:
        assert re.search(rf":: (anguilla\.)?((joints|loads|routings|strains)\.)?{name}$", text, re.M), name
    classes = [name.rpartition(".") for name in re.findall(r"autoclass:: (\S+)$", text, re.M)]
    things = [getattr(importlib.import_module(module), name) for module, _, name in classes]
    assert len(things) == len(set(things)), "Sphinx refuses a class that is documented twice"
    assert len(generate.others()) < 10, "give new names their place in docs/generate.py"
