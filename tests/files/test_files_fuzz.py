"""Damaged robot files: each loads, or gives problems with file, line, field and suggestion; none hangs or breaks."""

import random
import re
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anguilla.files import FileError, RobotFile, read_file, read_text_file

ROBOTS = Path(__file__).parents[2] / "examples" / "robots"
NAMES = ["arm_release", "tendon_arm", "paper000_test1_tip_torque", "soft_finger", "paper000_tendon_truncated"]
NASTY = [
    "", "~", "nan", ".inf", "-1", "0", "1e400", "9" * 400, "true", "[]", "{}", "[1, 2", "*x", "&x [*x]", "!!python/none",
    "'9**9**9**9'", "'().__class__'", "'__import__(\"os\").system(\"true\")'", "ground", "arm.tip", "arm[99]", "[[[]]]",
    "{type: rod}", "{type: nonsense, a: 1}", "0.1.2", "- 3", "\"\\x00\"", "'1 / 0'", "'sqrt(-1)'", "'(-1) ** 0.5'",
    "'" + "-" * 500 + "1'", "'" + "(" * 300 + "1" + ")" * 300 + "'", "2024-01-01", "\t", "é", "1_000", "0x1F", "100000000",
]  # fmt: skip


def mutate(text, rng):
    """Damage a text in one of many ways."""
    lines = text.splitlines()
    kind = rng.randrange(9)
    k = rng.randrange(len(lines))
    if kind == 0:
        del lines[k]
    elif kind == 1:
        lines.insert(k, lines[rng.randrange(len(lines))])
    elif kind == 2:
        lines[k] = " " * rng.randrange(1, 5) + lines[k]
    elif kind == 3:
        place = rng.randrange(len(lines[k]) + 1)
        lines[k] = lines[k][:place] + rng.choice("{}[]:,'\"#&*!|>%@`-\\ \t\0é") + lines[k][place:]
    elif kind == 4 and lines[k]:
        place = rng.randrange(len(lines[k]))
        lines[k] = lines[k][:place] + lines[k][place + 1 :]
    elif kind == 5:
        words = re.findall(r"\w+", text)
        lines[k] = re.sub(r"\w+", lambda m: rng.choice(words) if rng.random() < 0.3 else m[0], lines[k])
    elif kind == 6:
        lines[k] = re.sub(r": [^{\[].*$", lambda m: ": " + rng.choice(NASTY), lines[k])
    elif kind == 7:
        values = re.findall(r"[-+\w.]+", lines[k])
        if values:
            lines[k] = lines[k].replace(rng.choice(values), rng.choice(NASTY), 1)
    else:
        return text[: rng.randrange(len(text))]
    return "\n".join(lines) + "\n"


def judge(read):
    """Read; return the problems, each of which must be complete."""
    began = time.process_time()
    try:
        assert isinstance(read(), RobotFile)
        problems = ()
    except FileError as error:
        problems = error.problems
        assert problems and str(error)
    assert time.process_time() - began < 5.0
    for p in problems:
        assert p.file and p.line >= 1 and p.column >= 1 and p.field and len(p.message) > 5 and len(p.suggestion) > 5, p
    return problems


@settings(max_examples=400, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**9))
def test_damaged_files(tmp_path_factory, seed):
    rng = random.Random(seed)
    folder = tmp_path_factory.getbasetemp() / "fuzz"
    if not folder.exists():
        shutil.copytree(ROBOTS, folder)
    text = (ROBOTS / f"{rng.choice(NAMES)}.yaml").read_text(encoding="utf-8")
    for _ in range(rng.randrange(1, 4)):
        text = mutate(text, rng) if text.strip() else text
    path = folder / "damaged.yaml"
    path.write_text(text, encoding="utf-8")
    for problem in judge(lambda: read_file(path)):
        assert problem.file.startswith(str(folder))
        assert problem.line <= Path(problem.file).read_text(encoding="utf-8").count("\n") + 2


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.text(max_size=200))
def test_any_text(text):
    judge(lambda: read_text_file(text))


@pytest.mark.parametrize("value", NASTY)
@pytest.mark.parametrize("field", ["young", "radius", "modes", "section", "at", "force", "gravity", "y"])
def test_every_field_survives_every_value(field, value):
    lines = {
        "gravity": "[0, 0, -9.81]", "young": "1e6", "modes": "3", "section": None, "at": "ground",
        "force": "[0, 0, 1]", "y": "0.01",
    }  # fmt: skip
    lines["section"] = f"{{type: circle, radius: {value if field == 'radius' else 0.01}}}"
    if field != "radius":
        lines[field] = value
    judge(
        lambda: read_text_file(f"""
gravity: {lines["gravity"]}
parts:
  arm:
    rod:
      length: 0.4
      section: {lines["section"]}
      material:
        young: {lines["young"]}
        density: 1000
      strains:
        type: kirchhoff
        modes: {lines["modes"]}
    at: {lines["at"]}
loads:
  - type: tip_wrench
    part: arm
    force: {lines["force"]}
actuators:
  pull:
    type: tendon
    part: arm
    routing:
      type: parallel
      y: {lines["y"]}
""")
    )


def test_aliases_do_not_unfold_without_limit():
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n"
    for k in range(10):
        bomb += f"{'bcdefghijk'[k]}: &{'bcdefghijk'[k]} [{', '.join(['*' + 'abcdefghijk'[k]] * 9)}]\n"
    (problem,) = judge(lambda: read_text_file(bomb))
    assert "aliases" in problem.message


def test_deep_nesting_and_large_files_are_refused(tmp_path):
    (problem,) = judge(lambda: read_text_file("[" * 20_000))
    assert "nested" in problem.message or "deep" in problem.message
    path = tmp_path / "large.yaml"
    path.write_text("a: 1 # " + "x" * 3_000_000)
    (problem,) = judge(lambda: read_file(path))
    assert "characters" in problem.message


def test_binary_and_missing_files(tmp_path):
    path = tmp_path / "binary.yaml"
    path.write_bytes(bytes(range(256)))
    assert "cannot be read" in judge(lambda: read_file(path))[0].message
    assert "no such file" in judge(lambda: read_file(tmp_path / "nothing.yaml"))[0].message
    assert "directory" in judge(lambda: read_file(tmp_path))[0].message
