"""The rooms as CONTRIBUTING tells of them: the chain that a reader sees is the one that the linter enforces."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from anguilla.describe import Actuator, Load, Obstacle

ROOT = Path(__file__).parents[1]


def _contracts() -> list[list[str]]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = settings["tool"]["importlinter"]["contracts"]
    return [[re.sub(r"[() ]", "", layer).replace("|", ",") for layer in found["layers"]] for found in contracts]


def _chains() -> list[list[str]]:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    blocks = re.findall(r"(?:^    .*>.*\n)+", text, re.MULTILINE)
    return [[room.strip().replace(" ", "") for room in block.replace("\n", " ").split(">")] for block in blocks]


def test_the_chains_of_rooms_in_contributing_are_the_contracts():
    assert _chains()[:2] == _contracts()


@pytest.mark.parametrize("number", [0, 1])
def test_every_room_of_a_chain_exists_and_every_folder_is_in_it(number):
    folder = ROOT / "src/anguilla" / ("", "solve")[number]
    rooms = {name for layer in _contracts()[number] for name in layer.split(",")}
    there = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert there - {"__init__", "__main__"} == rooms


def _below(kind: type) -> set[str]:
    """Names of the classes of the library derived from one of its own."""
    inside = [sub for sub in kind.__subclasses__() if sub.__module__.startswith("anguilla.")]
    return {sub.__name__ for sub in inside}.union(*(_below(sub) for sub in inside))


def _asked(path: Path, names: set[str]) -> list[str]:
    """Places of a file that ask whether something is of one of the classes of rods and robots."""
    tree, found = ast.parse(path.read_text()), []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("anguilla.fem"):
            names = names - {name.asname or name.name for name in node.names}  # volumes have a Tendon of their own
    for node in ast.walk(tree):
        asked: list[ast.expr] = []
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
            asked = [node.args[1]]
        elif isinstance(node, ast.Compare) and "type(" in ast.unparse(node.left):
            asked = node.comparators
        inside = {name.id for one in asked for name in ast.walk(one) if isinstance(name, ast.Name)}
        found += [f"{path.relative_to(ROOT)}:{node.lineno}: {name}" for name in sorted(inside & names)]
    return found


def test_nobody_asks_what_kind_of_load_actuator_or_obstacle_it_is():
    """Outside their home; shooting, a second opinion, knows few kinds and refuses the others."""
    names = _below(Load) | _below(Actuator) | _below(Obstacle)
    assert {"Wrench", "Contact", "Lighthill", "Tendon", "Chamber"} <= names
    homes, room = ("describe", "interact", "shooting"), ROOT / "src/anguilla"
    files = [path for path in sorted(room.rglob("*.py")) if path.relative_to(room).parts[0] not in homes]
    assert [place for path in files for place in _asked(path, names)] == []
