"""`anguilla sweep`: parameters and inputs of a robot file, varied."""

import csv
import json

import numpy as np
import pytest

import anguilla as ag
from anguilla.cli import main

ROBOT = """
name: arm
parameters: {length: {default: 0.3, unit: m}, force: 0.1}
parts:
  arm:
    rod:
      length: length
      section: {type: circle, radius: 0.01}
      material: {young: 1e6, density: 1000, damping: 0.01}
      strains: {type: kirchhoff, modes: 2}
    at: ground
actuators:
  pull: {type: tendon, part: arm, routing: {type: parallel, y: 0.006}}
loads:
  - {type: tip_wrench, part: arm, force: [0, force, 0]}
simulate: {duration: 0.1, dt: 0.01}
"""


@pytest.fixture
def arm(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.yaml").write_text(ROBOT)
    return "arm.yaml"


def told(capsys):
    return json.loads(capsys.readouterr().out)


def test_equilibria_over_a_parameter_and_an_input(arm, capsys):
    options = ["--vary", "length=0.2:0.4:3", "--vary", "pull=0,2", "--set", "force=0.2", "--workers", "1"]
    assert main(["sweep", arm, *options, "--out", "table.csv", "--json"]) == 0
    facts = told(capsys)
    assert facts["ok"] is True and facts["runs"] == 6 and facts["files"] == {"table": "table.csv"}
    with open("table.csv", newline="") as stream:
        table = list(csv.DictReader(stream))
    for row in table:
        robot = ag.read_robot(arm, parameters={"length": float(row["length"]), "force": 0.2})
        held = ag.statics(robot, inputs={"pull": float(row["pull"])})
        place = held.position(robot.part("arm").tip)
        assert [float(row[f"arm.tip[{k}]"]) for k in range(3)] == place.tolist()
        assert float(row["energy"]) == held.energy["total"]
    values = [(float(row["length"]), float(row["pull"])) for row in table]
    assert values[3:] == [(0.30000000000000004, 2.0), (0.4, 0.0), (0.4, 2.0)]
    assert facts["columns"]["energy"] == [float(row["energy"]) for row in table]


def test_motions_and_a_folder(arm, capsys):
    command = ["sweep", arm, "--motion", "--vary", "force=0.1,0.2", "--input", "pull=5 * t", "--workers", "1", "--json"]
    assert main([*command, "--file", "kept", "--shard", "1/2"]) == 0
    assert told(capsys)["run_ok"] == [False, True]
    assert main([*command, "--file", "kept"]) == 0
    facts = told(capsys)
    robot = ag.read_robot(arm, parameters={"force": 0.2})
    run = ag.simulate(robot, duration=0.1, dt=0.01, inputs={"pull": lambda t: 5 * t})
    assert np.array_equal(facts["columns"]["arm.tip"][1], run.position(robot.part("arm").tip)[-1])
    assert ag.load("kept").ok.all()
    with open(arm, "a") as stream:
        stream.write("gravity: [0, 0, 0]\n")
    assert main([*command, "--file", "kept"]) == 3
    assert "changed: argument _text. --again runs everything again, --keep keeps" in told(capsys)["error"]
    assert main([*command, "--file", "kept", "--keep"]) == 0
    assert told(capsys)["columns"] == facts["columns"]
    assert main([*command, "--file", "kept", "--again"]) == 0
    assert told(capsys)["columns"] != facts["columns"]


def test_a_wrong_value_fails_alone(arm, capsys):
    assert main(["sweep", arm, "--vary", "length=-1,0.3", "--workers", "1"]) == 0
    captured = capsys.readouterr()
    assert "2 runs, 1 ok, 1 failed" in captured.out
    assert captured.err.startswith("note: 1 of 2 runs failed; run 0 says: FileError: arm.yaml:7:15:")
    assert main(["sweep", arm, "--vary", "length=-1,-2", "--workers", "1"]) == 1


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--vary", "lenght=1,2"], "--vary lenght: the file has length, force, pull (did you mean 'length'?)"),
        (["--vary", "length=1:2"], "--vary length must be LOW:HIGH:COUNT"),
        (["--vary", "length=1:2:1"], "with a COUNT of at least 2"),
        (["--vary", "length"], "--vary must be NAME=LOW:HIGH:COUNT"),
        (["--vary", "length=1,2", "--dt", "0.1"], "add --motion"),
        (["--vary", "length=1,2", "--shard", "1"], "--shard must be K/N"),
        (["--vary", "length=1,2", "--shard", "0/2"], "shard needs file"),
        (["--vary", "length=1,2", "--out", "table.nc"], "--out: path must end in .csv"),
    ],
)
def test_what_is_wrong_is_said_before_the_work(arm, capsys, options, text):
    assert main(["sweep", arm, *options]) == 3
    assert text in capsys.readouterr().err
