import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from anguilla.cli import main
from anguilla.cli.demo import release
from anguilla.errors import SolverError

ROOT = Path(__file__).parents[2]


def test_version(capsys):
    assert main(["--version"]) == 0
    assert re.fullmatch(r"anguilla \d+\.\d+\.\d+\n", capsys.readouterr().out)


def test_help_lists_the_commands(capsys):
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert "demo" in text and "info" in text


def test_no_command_shows_the_help(capsys):
    assert main([]) == 2
    assert "demo" in capsys.readouterr().out


def test_unknown_command_names_the_valid_ones(capsys):
    assert main(["dmeo"]) == 2
    assert "'demo'" in capsys.readouterr().err


def test_info(capsys):
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    for word in ("anguilla", "python", "numba", "cache folder", "threads"):
        assert word in text


def test_demo_leaves_its_files(tmp_path, capsys):
    out = tmp_path / "new" / "out"
    assert main(["demo", "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert sorted(file.name for file in out.iterdir()) == ["demo.html", "demo.png"]
    assert str(out / "demo.png") in text and str(out / "demo.html") in text
    assert "times faster than real time" in text and "tip at (8.9, 21.6, 18.5) cm" in text


def test_the_demo_is_the_example():
    held, run = runpy.run_path(str(ROOT / "examples" / "arm_release.py"))["main"]()
    arm, held_here, run_here = release(duration=3.0)
    np.testing.assert_array_equal(held.q, held_here.q)
    np.testing.assert_array_equal(run.q, run_here.q)
    # at rest while it is held, then only losing energy
    energy = run.energy
    assert np.max(energy["kinetic"][run.t < 0.24]) < 1e-12
    after = energy["total"][run.t > 0.26]
    assert np.all(np.diff(after) < 1e-6 * np.ptp(after))
    np.testing.assert_allclose(run_here.position(arm.tip)[-1], (0.250, -0.066, -0.273), atol=1e-3)


def test_out_must_not_be_a_file(tmp_path, capsys):
    file = tmp_path / "taken"
    file.write_text("mine")
    assert main(["demo", "--out", str(file)]) == 1
    message = capsys.readouterr().err
    assert message.count("\n") == 1 and "is a file" in message
    assert file.read_text() == "mine"


@pytest.mark.parametrize(
    "error", [SolverError("No equilibrium.", advice="Load it slowly."), PermissionError(13, "Denied")]
)
def test_failures_are_one_line(error, tmp_path, capsys, monkeypatch):
    def fail(duration):
        raise error

    monkeypatch.setattr("anguilla.cli.demo.release", fail)
    assert main(["demo", "--out", str(tmp_path)]) == 1
    message = capsys.readouterr().err
    assert message.startswith("anguilla: ") and message.count("\n") == 1 and "Traceback" not in message


def test_the_module_runs():
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "anguilla"]
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.startswith("anguilla ")
    assert subprocess.run([*command, "nonsense"], capture_output=True, env=environment).returncode == 2


def test_a_page_is_opened_for_a_person_before_a_screen(monkeypatch):
    from anguilla.cli.common import open_page

    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    open_page("a", None)
    open_page("b", True)
    monkeypatch.setenv("DISPLAY", ":0")
    open_page("c", None)  # the output is not a terminal here
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    open_page("d", None)
    open_page("e", False)
    assert opened == ["b", "d"]


ARM = """
anguilla: 1
name: arm
parts:
  arm:
    rod:
      length: 0.4
      section: {{type: circle, radius: 0.01}}
      material: {{young: 1e6, poisson: 0.45, density: {density}, damping: 0.005}}
      strains: {{type: reissner, modes: 2}}
    at: ground
simulate: {{duration: 1.0, dt: 0.005}}
"""


def test_warnings_are_notes_said_once(tmp_path, capsys):
    """Without the line of code where they arose; what is told of the motion's quality is not told twice."""
    path = tmp_path / "arm.yaml"
    path.write_text(ARM.format(density=1000))
    assert main(["simulate", str(path)]) == 0
    said = capsys.readouterr()
    assert said.err == "" and said.out.count("has too few modes") == 1
    path.write_text(ARM.format(density=1.0))  # [g/cm^3]
    for command in ("statics", "simulate"):
        assert main([command, str(path)]) == 0
        lines = capsys.readouterr().err.splitlines()
        assert len([line for line in lines if "density" in line]) == 1, lines
        assert all(line.startswith("note: ") for line in lines), lines
    assert main(["statics", str(path), "--json"]) == 0
    said = capsys.readouterr()
    assert said.err == "" and [note for note in json.loads(said.out)["notes"] if "density" in note]


def test_a_demonstration_says_which_folder_cannot_be_made(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert main(["demo", "--no-open", "--out", str(tmp_path / "file" / "out")]) == 1
    assert "file/out' cannot be made: Not a directory." in capsys.readouterr().err
