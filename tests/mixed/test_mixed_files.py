"""Robot files with soft volumes: read, written and read again; their mistakes; the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem
from anguilla.cli import main
from anguilla.errors import DescriptionError
from anguilla.files import read_file, robot_text

TEXT = """
name: arm
parameters: {soft: 1.0e+6}
parts:
  rod:
    rod: {length: 0.05, section: {type: circle, radius: 0.005}, material: {young: 1.0e+7, poisson: 0.3, density: 1000},
          strains: {twist: 2, bend_y: 2, bend_z: 2}}
    at: ground
  plate:
    body: {mass: 0.001, inertia: [1.0e-8, 1.0e-8, 1.0e-8]}
    at: end
volumes:
  pad:
    mesh: {type: block, size: [0.03, 0.01, 0.01], cells: [2, 1, 1]}
    material: {young: 2 * soft, poisson: 0.3, density: 1000}
    law: neo_hookean
    actuators:
      pull: {type: tendon, points: [[0.0, 0.004, 0.0], [0.03, 0.004, 0.0]]}
    loads:
      - {type: point_force, point: [0.02, 0.0, 0.0], force: [0.0, 0.0, -0.01]}
    at: rod.tip
    patch: base
    frames:
      end: {where: tip}
inputs: {pad.pull: 0.2}
simulate: {duration: 0.01, dt: 0.002}
"""


def described() -> tuple[ag.Robot, ag.Frame]:
    """The same robot, in Python."""
    robot = ag.Robot("arm")
    firm = ag.Material(young=1e7, poisson=0.3, density=1000.0)
    rod = robot.add(ag.Rod(0.05, ag.Circle(radius=0.005), firm, strains=ag.kirchhoff(2)), at=robot.ground, name="rod")
    soft = ag.Material(young=2e6, poisson=0.3, density=1000.0)
    pad = ag.Volume(fem.block((0.03, 0.01, 0.01), (2, 1, 1)), soft, name="pad", law="neo_hookean")
    pad.actuate("pull", fem.Tendon([(0.0, 0.004, 0.0), (0.03, 0.004, 0.0)]))
    pad.load(fem.PointForce((0.02, 0.0, 0.0), (0.0, 0.0, -0.01)))
    end = robot.add(pad, at=rod.tip, patch="base").frame("end", "tip")
    robot.add(ag.RigidBody(0.001, inertia=(1e-8, 1e-8, 1e-8)), at=end, name="plate")
    return robot, end


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(TEXT)
    return path


def test_a_file_describes_the_robot_that_python_does(file):
    found = read_file(file)
    robot, _ = described()
    inputs = {"pad.pull": 0.2}
    assert found.inputs == inputs and found.robot.coordinates() == robot.coordinates()
    one, two = (ag.statics(each, inputs=inputs) for each in (found.robot, robot))
    assert np.allclose(one.q, two.q, rtol=0, atol=1e-12)
    assert np.allclose(one.volume("pad").x, two.volume("pad").x, rtol=0, atol=1e-13)
    softer = read_file(file, parameters={"soft": 5e5}).robot
    assert softer.volumes[0].volume.material.young == 1e6


def test_what_is_written_is_read_again(tmp_path):
    robot, _ = described()
    text = robot_text(robot)
    assert "{type: block, size: [0.03, 0.01, 0.01], cells: [2, 1, 1]}" in text
    path = tmp_path / "again.yaml"
    path.write_text(text)
    again = read_file(path).robot
    assert robot_text(again) == text
    inputs = {"pad.pull": 0.2}
    one, two = (ag.statics(each, inputs=inputs) for each in (again, robot))
    assert np.allclose(one.volume("pad").x, two.volume("pad").x, rtol=0, atol=1e-13)


def test_meshes_lie_in_files_beside_the_robot(tmp_path):
    pytest.importorskip("meshio")
    fem.write_mesh(tmp_path / "pad.vtk", fem.block((0.03, 0.01, 0.01), (2, 1, 1)))
    path = tmp_path / "arm.yaml"
    text = TEXT.replace("mesh: {type: block, size: [0.03, 0.01, 0.01], cells: [2, 1, 1]}", "mesh: pad.vtk")
    text = text.replace("patch: base", "patch: [0, 1, 2, 3]").replace("{where: tip}", "{where: [8, 9, 10, 11]}")
    path.write_text(text)
    robot = read_file(path).robot
    assert len(robot.volumes[0].volume.mesh.points) == 12
    path.write_text(robot_text(robot))
    assert read_file(path).robot.volumes[0].volume.mesh.source == {"file": "pad.vtk"}
    path.write_text(text.replace("pad.vtk", "../pad.vtk"))
    with pytest.raises(DescriptionError, match="must lie in the folder"):
        read_file(path)


@pytest.mark.parametrize(
    ("wrong", "right", "said"),
    [
        ("type: block", "type: blok", "did you mean 'block'"),
        ("patch: base", "patch: bse", "no set of points 'bse' (did you mean 'base'?)"),
        ("at: rod.tip", "at: rot.tip", "there is no frame 'rot.tip'"),
        ("law: neo_hookean", "lav: neo_hookean", "a volume has no such field"),
        ("{type: tendon, points", "{type: tendon, point", "no field 'point' (did you mean 'points'?)"),
        ("pad.pull: 0.2", "pad.push: 0.2", "did you mean 'pad.pull'"),
        ("pad.pull: 0.2", "pad.pull: -0.2", "must lie between 0 and inf N"),
    ],
)
def test_mistakes_are_told_with_their_place(tmp_path, wrong, right, said):
    path = tmp_path / "arm.yaml"
    path.write_text(TEXT.replace(wrong, right))
    with pytest.raises(DescriptionError) as caught:
        read_file(path)
    assert said in str(caught.value)
    assert "arm.yaml:" in str(caught.value)


def test_a_mesh_without_a_source_is_refused():
    robot, _ = described()
    mesh = robot.volumes[0].volume.mesh
    robot.volumes[0].volume.mesh = fem.TetMesh(mesh.points, mesh.tets, mesh.nodes)
    with pytest.raises(DescriptionError, match=r"write it with fem\.write_mesh"):
        robot_text(robot)


def test_the_command_line_takes_such_files(file, capsys):
    assert main(["check", str(file)]) == 0
    assert main(["statics", str(file)]) == 0
    assert main(["simulate", str(file)]) == 0
    assert "arm" in capsys.readouterr().out


def test_the_command_line_keeps_motions_and_finds_modes(file, tmp_path, capsys):
    pytest.importorskip("h5py")
    out = tmp_path / "run.nc"
    assert main(["simulate", str(file), "-o", str(out)]) == 0
    robot, _ = described()
    run = ag.simulate(robot, duration=0.01, dt=2e-3, inputs={"pad.pull": 0.2})
    assert np.allclose(ag.load(out).volume("pad").x, run.volume("pad").x, rtol=0, atol=1e-12)
    for name in ("run.csv", "run.pvd"):
        assert main(["convert", str(out), str(tmp_path / name)]) == 0
    capsys.readouterr()
    assert main(["modes", str(file), "-n", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["modes"]
    eq = ag.statics(robot, inputs={"pad.pull": 0.2})
    assert [mode["frequency"] for mode in found] == pytest.approx(ag.modes(robot, eq, count=2).frequencies)
    assert [mode["coordinate"] for mode in found] == ["pad", "pad"]
    assert main(["modes", str(file)]) == 0


def test_results_are_saved_and_loaded(tmp_path):
    pytest.importorskip("h5py")
    robot, end = described()
    inputs = {"pad.pull": lambda t: 20.0 * t}
    run = ag.simulate(robot, duration=0.01, dt=2e-3, inputs=inputs)
    again = ag.load(run.save(tmp_path / "run.nc"))
    assert np.array_equal(again.q, run.q) and np.array_equal(again.volume("pad").x, run.volume("pad").x)
    assert np.allclose(again.energy["total"], run.energy["total"], rtol=1e-12)
    assert np.allclose(again.position(again.robot.volumes[0].patches[1].frame), run.position(end), atol=1e-15)
    assert again.volume("pad").inputs["pull"](4e-3) == pytest.approx(0.08)
    goes_on = ag.simulate(again.robot, duration=0.004, dt=2e-3, start=again)
    straight = ag.simulate(robot, duration=0.004, dt=2e-3, start=run)
    assert np.allclose(goes_on.q, straight.q, atol=1e-12)
    rest = ag.statics(robot, inputs={"pad.pull": 0.1})
    found = ag.load(rest.save(tmp_path / "rest.nc"), robot=robot)
    assert np.array_equal(found.volume("pad").x, rest.volume("pad").x)
    assert found.volume("pad").inputs == rest.volume("pad").inputs


def test_natural_shapes_and_laws_of_regions_are_kept(tmp_path):
    """One half of the bar is of another rubber and would be 5 % longer, the other 2 % wider."""
    pytest.importorskip("meshio")
    block = fem.block((0.03, 0.01, 0.01), (2, 1, 1))
    rows = lambda values: "".join(f"{k + 1}, {', '.join(map(str, row))}\n" for k, row in enumerate(values))
    cells = f"*ELEMENT, TYPE=C3D4\n{rows((block.tets + 1).tolist())}*ELSET, ELSET=FAR, GENERATE\n7, 12\n"
    (tmp_path / "pad.inp").write_text(f"*NODE\n{rows(block.points.tolist())}{cells}")
    soft = ag.Material(young=2e6, poisson=0.3, density=1000.0)
    robot = ag.Robot("grown")
    rod = robot.add(ag.Rod(0.05, ag.Circle(0.005), soft, strains=ag.kirchhoff(2)), at=robot.ground, name="rod")
    pad = ag.Volume(fem.read_mesh(tmp_path / "pad.inp"), soft, name="pad", law=fem.Yeoh(3e5, 1e3))
    pad.mesh.source["file"] = "pad.inp"
    pad.paint("FAR", soft, law=fem.MooneyRivlin(1e5, 2e4))
    pad.prestrain((1.0, 1.02, 1.02))
    pad.prestrain(np.diag([1.05, 1.0, 1.0]), "FAR")
    robot.add(pad, at=rod.tip, patch=[0, 1, 2, 3])
    path = tmp_path / "grown.yaml"
    path.write_text(robot_text(robot))
    again = read_file(path).robot
    assert robot_text(again) == robot_text(robot)
    one, two = ag.statics(robot).volume("pad"), ag.statics(again).volume("pad")
    assert np.ptp(one.x[:, 0]) > 0.0305
    assert np.allclose(one.x, two.x, rtol=0, atol=1e-13)
    path.write_text(robot_text(robot).replace("natural:", "shape:"))
    with pytest.raises(DescriptionError, match=r"prestrain\[0\] must be \{natural"):
        read_file(path)
