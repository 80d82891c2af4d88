"""The scripts of examples/ and validation/ as modules."""

import importlib.util
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]


def load(name):
    """The module of an example, made once; an example may import another one."""
    folder = ROOT / "examples"
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    return script(folder / f"{name}.py", name)


@cache
def script(path, name):
    """The module of a script, under the name given; made once."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module
