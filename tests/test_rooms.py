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


# Private names of others that are used on purpose: of Python and Numba, as their documents say, and one of Matplotlib.
KNOWN_PRIVATE = {"_replace", "_asdict", "_fields", "_make", "_exit", "_numba_type_", "_axinfo"}
COMPILER = "src/anguilla/compiler/"  # relies on Numba's internals, as its page tells
FOREIGN_PRIVATE = 0  # uses of another module's private names


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in KNOWN_PRIVATE


def _own_names(tree: ast.Module) -> set[str]:
    """Private names that a module defines itself, of whatever kind."""
    found = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            found |= {node.attr} if node.value.id in ("self", "cls") else set()
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)  # of __slots__, and of object.__setattr__
    return found


def _foreign_private(path: Path) -> list[str]:
    """Places of a file that use a private name of another module."""
    tree = ast.parse(path.read_text())
    own, found = _own_names(tree), []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("anguilla"):
            found += [f"{path.relative_to(ROOT)}:{node.lineno}: {x.name}" for x in node.names if _is_private(x.name)]
        if not isinstance(node, ast.Attribute) or not _is_private(node.attr) or node.attr in own:
            continue
        of = ast.unparse(node.value)
        if of not in ("self", "cls", "super()"):
            found.append(f"{path.relative_to(ROOT)}:{node.lineno}: {of}.{node.attr}")
    return found


def test_no_module_uses_private_names_of_another():
    files = sorted((ROOT / "src").rglob("*.py"))
    found = [place for path in files for place in _foreign_private(path)]
    found = [place for place in found if not place.startswith(COMPILER)]
    assert len(found) <= FOREIGN_PRIVATE, "\n".join(found)
