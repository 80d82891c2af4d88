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
    text, found = path.read_text(), []
    if not names.intersection(re.findall(r"\w+", text)):
        return found
    nodes = list(ast.walk(ast.parse(text)))
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("anguilla.fem"):
            names = names - {name.asname or name.name for name in node.names}  # volumes have a Tendon of their own
    for node in nodes:
        asked: list[ast.expr] = []
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("isinstance", "issubclass"):
            asked = [node.args[1]]
        elif isinstance(node, ast.Compare) and any(getattr(one, "id", "") == "type" for one in ast.walk(node.left)):
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


# Names with an underscore that are not private: Python's documents say so.
PROTOCOL = {"_replace", "_asdict", "_fields", "_make", "_exit"}
# Private names of other libraries, each where there is no public way.
LIBRARIES = {
    ("compiler/distant.py", "_numba_type_"): "how Numba asks an object for its type, by its documents",
    ("compiler/table.py", "_numba_type_"): "the same",
    ("compiler/table.py", "_getvalue"): "how Numba's own structures become values",
    ("compiler/jit.py", "_impl_class"): "the file of a cached kernel, which has no setting",
    ("compiler/jit.py", "_cache"): "as Numba's enable_caching() sets it",
    ("compiler/distant.py", "_cache"): "the same, to know how long a kernel takes to compile",
    ("compiler/helper.py", "_cache"): "the same, to share kernels with another process",
    (
        "compiler/jit.py",
        "_cache_file",
    ): "where the index of a cached kernel lies, to see whether another process has it",
    ("compiler/jit.py", "_index_path"): "the same",
    ("fem/files.py", "_readers"): "meshio's readers of Gmsh, called with a limit on what they allocate",
    ("many/run.py", "_inheriting"): "whether Python's multiprocessing is still starting this process",
    ("many/workers.py", "_client"): "the client behind an executor of Dask",
    ("many/workers.py", "_kwargs"): "the same",
    ("view/panels.py", "_axinfo"): "grid and ticks of Matplotlib's axes in space",
}


# A private name after a dot (but of self, cls or super()), in quotes, or in what is imported.
SUSPECT = re.compile(
    r"""(?<!\bself)(?<!\bcls)(?<!\bsuper\(\))\._[a-zA-Z]|["']_[a-zA-Z]|\bimport\b[^\n]*[ (,]_[a-zA-Z]|^ +_[a-z]\w*,$""",
    re.M,
)


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in PROTOCOL


def _own_names(kind: ast.ClassDef) -> set[str]:
    """Private names that a class gives to its objects: its methods and fields, and what it sets of `self`."""
    found = {node.name for node in kind.body if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(kind):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name):
            found |= {node.attr} if node.value.id in ("self", "cls") else set()
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)  # of __slots__, and of object.__setattr__
    return found


def _uses(node: ast.AST) -> tuple[str, str] | None:
    """(object, private name) where one is read or written, by a dot, by getattr and its like, or by vars."""
    of: ast.AST | None = None
    name: object = ""
    if isinstance(node, ast.Attribute):
        of, name = node.value, node.attr
    elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "setattr", "hasattr", "delattr"):
        of, name = node.args[0], getattr(node.args[1], "value", "") if len(node.args) > 1 else ""
    elif isinstance(node, ast.Subscript):
        of, name = node.value, getattr(node.slice, "value", "")
    if of is None or not isinstance(name, str) or not _is_private(name):
        return None
    if isinstance(node, ast.Subscript) and not re.search(r"^vars\(|__dict__$", ast.unparse(of)):
        return None
    return re.sub(r"^vars\((.*)\)$|(.*)\.__dict__$", r"\1\2", ast.unparse(of)), name


def _foreign_private(path: Path) -> list[str]:
    """Places of a file that use a private name of anything but the object at hand, or another one of its class."""
    found: list[str] = []
    place = path.relative_to(ROOT / "src/anguilla").as_posix()

    def look(node: ast.AST, own: set[str]) -> None:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("anguilla"):
            found.extend(f"{place}:{node.lineno}: {x.name}" for x in node.names if _is_private(x.name))
        if used := _uses(node):
            of, name = used
            if of not in ("self", "cls", "super()") and name not in own and (place, name) not in LIBRARIES:
                found.append(f"{place}:{node.lineno}: {of}.{name}")
        for child in ast.iter_child_nodes(node):
            look(child, _own_names(child) if isinstance(child, ast.ClassDef) else own)

    text = path.read_text()
    if SUSPECT.search(text):  # most files use nothing but their own, which needs no closer look
        look(ast.parse(text), set())
    return found


def test_nobody_uses_private_names_of_another_object():
    """Allowed: of itself and what it derives from, of another object of the same class (to copy or compare it)."""
    assert [place for path in sorted((ROOT / "src").rglob("*.py")) for place in _foreign_private(path)] == []


@pytest.mark.parametrize(("file", "name"), LIBRARIES)
def test_private_names_of_libraries_are_still_used(file, name):
    assert name in (ROOT / "src/anguilla" / file).read_text()


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("def f(run): return run._q", 1),
        ("def f(run): return getattr(run, '_q', None)", 1),
        ("def f(run): vars(run)['_q'] = run.__dict__['_v']", 2),
        ("class A:\n    _q: int = 0\nclass B:\n    def f(self, a): return a._q", 1),
        ("from anguilla.model.model import _hidden", 1),
        ("class A:\n    _q: int = 0\n    def f(self, other): return self._q == other._q", 0),
        ("class A(B):\n    def _check(self): super()._check()", 0),
    ],
)
def test_what_counts_as_another_object(tmp_path, monkeypatch, code, count):
    file = tmp_path / "src/anguilla/some.py"
    file.parent.mkdir(parents=True)
    file.write_text(code)
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    assert len(_foreign_private(file)) == count
