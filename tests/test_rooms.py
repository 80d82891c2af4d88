"""The rooms as CONTRIBUTING tells of them: the chain that a reader sees is the one that the linter enforces."""

import re
import tomllib
from pathlib import Path

import pytest

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
