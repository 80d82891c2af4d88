"""`anguilla identify`: numbers of a robot file from a table."""

from __future__ import annotations

import json

import numpy as np

import anguilla as ag
from anguilla.cli import main


def test_a_modulus_and_what_is_not_determined(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    robot = ag.Robot("arm")
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), ag.Material(1e6, 1100.0), ag.planar(2)), at=robot.ground, name="arm")
    robot.gravity = (0.0, -9.81, 0.0)
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.008)))
    ag.write_robot(robot, "arm.yaml")
    arm.rod.material.young = 1.4e6
    pulls = np.array([0.0, 1.0, 2.0, 3.0])
    tips = [1e3 * ag.statics(robot, inputs={"pull": u}).position(arm.tip) for u in pulls]
    names = "pull,tip_x [mm],tip_y [mm],tip_z [mm]"
    np.savetxt("run.csv", np.column_stack([pulls, tips]), delimiter=",", header=names, comments="")
    given = ["identify", "arm.yaml", "run.csv", "--free", "arm.material.young", "--marker", "tip=arm.tip"]
    assert main([*given, "--held-out", "run.csv", "--out", "fit.yaml", "--plot", "fit.png", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert abs(facts["values"]["arm.material.young"] / 1.4e6 - 1.0) < 1e-6
    assert facts["held_out"]["run"]["worst"] < 1e-6
    assert abs(ag.read_robot("fit.yaml").part("arm").rod.material.young / 1.4e6 - 1.0) < 1e-6
    assert (tmp_path / "fit.yaml").read_text().startswith("# identified by anguilla on ")
    assert (tmp_path / "fit.png").stat().st_size > 1000
    assert main([*given, "--free", "arm.material.damping"]) == 0
    assert "note: the data do not depend on arm.material.damping" in capsys.readouterr().out
    assert main([*given[:-2], "--marker", "tip=leg.tip"]) == 3
    assert "there is no frame 'leg.tip'" in capsys.readouterr().err
    names = "Motor;LED.x;LED.y;LED.z;temperature"
    np.savetxt("other.csv", np.column_stack([pulls, tips, 0.0 * pulls]), delimiter=";", header=names, comments="")
    other = [
        "identify",
        "arm.yaml",
        "other.csv",
        *given[3:],
        "--unit",
        "mm",
        "--rename",
        "LED=tip",
        "--rename",
        "Motor=pull",
    ]
    assert main([*other, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert abs(facts["values"]["arm.material.young"] / 1.4e6 - 1.0) < 1e-6
    assert facts["left_out"] == {"other.csv": ["temperature"]}
