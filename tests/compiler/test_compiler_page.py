"""The page of the private compiler names all of Numba's inside that is used, and nothing else of the library uses any."""

import ast
import importlib.metadata
from pathlib import Path

import pytest

import anguilla

SOURCE = Path(anguilla.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "compiler.md"


def imported(path: Path) -> set[tuple[str, str]]:
    """(module, name) of what a file imports of Numba and llvmlite."""
    found, text = set(), path.read_text(encoding="utf-8")
    if "numba" not in text and "llvmlite" not in text:
        return found
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("numba", "llvmlite"):
            found |= {(str(node.module), name.name) for name in node.names}
        elif isinstance(node, ast.Import):
            found |= {(name.name, "") for name in node.names if name.name.split(".")[0] in ("numba", "llvmlite")}
    return found


@pytest.mark.parametrize("path", sorted((SOURCE / "compiler").glob("*.py")), ids=lambda path: path.stem)
def test_the_page_names_all_that_is_imported(path):
    text = PAGE.read_text(encoding="utf-8")
    for module, name in imported(path):
        assert f"`{name or module}`" in text or module == "numba", (module, name)


def test_no_other_room_reaches_into_numba():
    others = [path for path in SOURCE.rglob("*.py") if path.parent.name != "compiler"]
    found = {path.relative_to(SOURCE).as_posix(): imported(path) for path in others}
    found = {path: names for path, names in found.items() if any(module != "numba" for module, _ in names)}
    assert not found


def test_the_versions_of_the_page_are_those_at_hand():
    text = PAGE.read_text(encoding="utf-8")
    for package in ("numba", "llvmlite"):
        assert importlib.metadata.version(package) in text
