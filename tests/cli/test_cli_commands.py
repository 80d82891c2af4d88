"""Every command does what it says, for people and for machines, and says clearly what is wrong."""

import json
import re
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import anguilla as ag
from anguilla.cli import main
from anguilla.cli.common import DONE, FAILED, MISUSED, NOT_INSTALLED, WRONG_INPUT
from anguilla.cli.modes import natural_modes
from anguilla.files import read_robot

ROOT = Path(__file__).parents[2]
ROBOTS = ROOT / "examples" / "robots"

ROD = """
name: rod
parameters: {L: {default: 0.4, unit: m, description: length}}
parts:
  arm:
    rod: {length: L, section: {type: circle, radius: 0.01}, material: {young: 1e6, density: 1000, damping: 0.01},
          strains: {type: kirchhoff, modes: 2}}
    at: ground
actuators:
  pull: {type: tendon, part: arm, routing: {type: parallel, y: 0.005}}
simulate: {duration: 0.1, dt: 0.01}
"""


@pytest.fixture
def robot(tmp_path):
    path = tmp_path / "rod.yaml"
    path.write_text(ROD)
    return path


def call(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def machine(capsys, *arguments):
    code, out, err = call(capsys, *arguments, "--json")
    assert out.count("\n") == 1 and not err, (out, err)
    return code, json.loads(out)


# new, check, schema ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("template", ["rod", "tendon", "arm"])
def test_templates_are_good_robots(template, tmp_path, capsys):
    path = tmp_path / "mine.yaml"
    assert call(capsys, "new", path, "--template", template)[0] == DONE
    code, out, err = call(capsys, "check", path)
    assert code == DONE and "coordinates" in out and not err
    code, found = machine(capsys, "simulate", path, "--duration", "0.05")
    assert code == DONE and found["steps"] >= 5


def test_new_replaces_nothing_unless_told(robot, capsys):
    code, _, err = call(capsys, "new", robot)
    assert code == WRONG_INPUT and "--force" in err and robot.read_text() == ROD
    assert call(capsys, "new", robot, "--force")[0] == DONE and robot.read_text() != ROD


def test_check_says_what_there_is_in_a_file_of_volumes(tmp_path, capsys):
    path = tmp_path / "pad.yaml"
    path.write_text(
        "name: v\nvolumes:\n  pad:\n    mesh: {type: block, size: [0.03, 0.01, 0.01], cells: [6, 2, 2]}\n"
        "    material: {young: 1.0e+6, poisson: 0.4, density: 1000}\n    at: ground\n    patch: base\n"
    )
    _, out, _ = call(capsys, "check", path)
    assert "robot 'v': pad; 0 coordinates and a soft volume of 63 points;" in out


def test_check_lists_all_problems(robot, capsys):
    robot.write_text(ROD.replace("young: 1e6", "young: -1").replace("part: arm", "part: amr"))
    code, out, err = call(capsys, "check", robot)
    assert code == WRONG_INPUT and not out
    assert "rod.yaml:6:" in err and "rod.yaml:10:" in err and "did you mean 'arm'" in err and "2 problems" in err
    code, found = machine(capsys, "check", robot)
    assert code == WRONG_INPUT and not found["ok"]
    assert [p["field"] for p in found["files"][0]["problems"]] == [
        "parts.arm.rod.material.young",
        "actuators.pull.part",
    ]


def test_check_takes_many_files_and_parameters(robot, capsys):
    code, out, _ = call(capsys, "check", robot, robot, "--set", "L=2*0.3")
    assert code == DONE and out.count("L = 0.6 m   length") == 2


def test_all_example_robots_are_good(capsys):
    files = [path for path in ROBOTS.glob("*.yaml") if "parts:" in path.read_text()]
    code, found = machine(capsys, "check", *files, ROBOTS / "two_link.urdf")
    assert code == DONE and len(found["files"]) == len(files) + 1


def test_schema(tmp_path, capsys):
    code, out, _ = call(capsys, "schema")
    assert code == DONE and "parts" in json.loads(out)["properties"]
    assert call(capsys, "schema", "--out", tmp_path / "robot.json")[0] == DONE
    assert json.loads((tmp_path / "robot.json").read_text()) == json.loads(out)


# statics, simulate, modes ---------------------------------------------------------------------------------------------


def test_statics_is_that_of_python(robot, tmp_path, capsys):
    out = tmp_path / "eq.nc"
    code, text, _ = call(capsys, "statics", robot, "--input", "pull=1.5", "--out", out, "--plot", tmp_path / "eq.png")
    assert code == DONE and "converged" in text and "arm.tip" in text and (tmp_path / "eq.png").exists()
    expected = ag.statics(read_robot(robot), inputs={"pull": 1.5})
    assert np.array_equal(ag.load(out).q, expected.q)
    code, found = machine(capsys, "statics", robot, "-i", "pull=1.5")
    np.testing.assert_allclose(list(found["q"].values()), expected.q, rtol=1e-15)


def test_simulate_is_that_of_python(robot, tmp_path, capsys):
    out = tmp_path / "run.nc"
    options = [
        "--input",
        "pull=2*t",
        "--set",
        "L=0.3",
        "--duration",
        "0.2",
        "--start",
        "equilibrium",
        "--method",
        "midpoint",
    ]
    code, text, _ = call(capsys, "simulate", robot, *options, "--out", out, "--page", tmp_path / "run.html")
    assert code == DONE and "times real time" in text and (tmp_path / "run.html").exists()
    again = read_robot(robot, parameters={"L": 0.3})
    expected = ag.simulate(
        again, duration=0.2, dt=0.01, inputs={"pull": lambda t: 2.0 * t}, start=ag.statics(again), method="midpoint"
    )
    assert np.array_equal(ag.load(out).q, expected.q)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rod.yaml", "run.html", "run.nc"]


def test_simulate_goes_on_where_it_was_stopped(robot, tmp_path, capsys, monkeypatch):
    out = tmp_path / "run.nc"
    call(capsys, "simulate", robot, "--duration", "2", "--out", tmp_path / "whole.nc")

    def stop(self, tick):
        def watched(done):
            self.latest = done, {f"memory_{k}": a.copy() for k, a in self.memory.items()} | {"counter": 0}
            raise KeyboardInterrupt

        return watched

    monkeypatch.setattr("anguilla.solve.steps.checkpoint.Checkpoint.watch", stop)
    monkeypatch.setattr("anguilla.solve.steps.dynamics.in_blocks", _short_blocks())
    code, _, err = call(capsys, "simulate", robot, "--duration", "2", "--out", out)
    left = tmp_path / "run.nc.checkpoint"
    assert code == 130 and left.exists() and not out.exists()
    assert err.splitlines()[-1] == f"anguilla: interrupted; the same command goes on from {left}"
    monkeypatch.undo()
    code, _, err = call(capsys, "simulate", robot, "--duration", "2", "--out", out)
    assert code == DONE and "resuming from" in err
    assert np.array_equal(ag.load(out).q, ag.load(tmp_path / "whole.nc").q)
    assert not (tmp_path / "run.nc.checkpoint").exists()


def test_simulate_says_that_a_large_file_is_written(robot, tmp_path, capsys, monkeypatch):
    from anguilla.cli import simulate

    out = tmp_path / "run.nc"
    assert "writing up to" not in call(capsys, "simulate", robot, "--duration", "2", "--out", out)[2]
    monkeypatch.setattr(simulate, "LARGE", 1e5)
    code, _, err = call(capsys, "simulate", robot, "--duration", "2", "--out", out)
    told = re.fullmatch(r"writing up to (\S+) GB; --every N stores fewer states\n", err)
    assert code == DONE and told and 0.4 < out.stat().st_size / (1e9 * float(told[1])) < 1.3
    assert "writing up to" not in call(capsys, "simulate", robot, "--duration", "2")[2]
    assert "writing up to" not in call(capsys, "simulate", robot, "--duration", "2", "--out", out, "--json")[2]


def _short_blocks():
    from anguilla.solve.steps import dynamics

    original = dynamics.in_blocks

    def short(m, loads, dt, done, steps, every, out, tick):
        reached, status = original(m, loads, dt, done, min(steps, 50), every, out, lambda n: None)
        tick(reached)
        return reached, status

    return short


def test_simulate_needs_a_duration(robot, capsys):
    robot.write_text(ROD.replace("simulate:", "#"))
    code, _, err = call(capsys, "simulate", robot)
    assert code == WRONG_INPUT and "--duration" in err


def test_a_target_out_of_reach_is_no_success(robot, capsys):
    code, found = machine(capsys, "inverse", robot, "--target", "arm.tip=0.2,0.3,0.1", "--most", "2")
    assert code == FAILED and not found["ok"] and not found["reached"] and found["distance"] > 0.1
    code, out, _ = call(capsys, "inverse", robot, "--target", "arm.tip=0.2,0.3,0.1", "--most", "2", "--tolerance", "1")
    assert code == DONE and "out of reach" not in out


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("statics",), "ROBOT"),
        (("statcs", "arm.yaml"), "'statics'"),
        (("simulate", "arm.yaml", "--dt", "soon"), "--dt"),
        (("simulate", "arm.yaml", "--start", "bent"), "--start"),
        (("statics", "arm.yaml", "--inputs", "pull=1"), "--input"),
        (("inverse", "arm.yaml"), "--target"),
    ],
)
def test_misuse_is_told_to_machines_too(arguments, word, capsys):
    code, found = machine(capsys, *arguments)
    assert code == MISUSED == found["code"] and not found["ok"] and word in found["error"]
    code, out, err = call(capsys, *arguments)
    assert code == MISUSED and not out and word in err


def test_a_sweep_of_which_nothing_is_left_is_no_success(robot, capsys):
    code = main(["sweep", str(robot), "--vary", "pull=-1,-2", "--workers", "1", "--json"])
    assert code == FAILED and not json.loads(capsys.readouterr().out)["ok"]


def test_a_wider_folder_is_opened_by_an_option(robot, tmp_path, capsys):
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "arm.yaml").write_text("include: ../rod.yaml\n")
    code, _, err = call(capsys, "check", inner / "arm.yaml")
    assert code == WRONG_INPUT and "outside" in err and "--folder" in err
    assert call(capsys, "--folder", tmp_path, "check", inner / "arm.yaml")[0] == DONE
    assert ag.read_robot(inner / "arm.yaml", folder=tmp_path).size == ag.read_robot(robot).size
    assert call(capsys, "check", inner / "arm.yaml")[0] == WRONG_INPUT, "the next call has its own folder"


def test_modes_of_a_cantilever_are_euler_bernoulli(tmp_path, capsys):
    # f_k = (b_k)^2 / 2 pi sqrt(E I / rho A) / L^2, each twice (two planes); a slender undamped rod without gravity
    path = tmp_path / "beam.yaml"
    path.write_text("""
gravity: [0, 0, 0]
parts:
  beam:
    rod: {length: 1, section: {type: circle, radius: 0.002}, material: {young: 2e11, density: 7800},
          strains: {type: kirchhoff, modes: 8, twist_modes: 1}, intervals: 40}
    at: ground
""")
    code, found = machine(capsys, "modes", path, "--count", "6")
    assert code == DONE
    unit = np.sqrt(2e11 * 0.002**2 / 4 / 7800) / (2 * np.pi)
    expected = np.repeat(np.array([1.8751040687, 4.6940911330, 7.8547574382]) ** 2 * unit, 2)
    frequencies = [mode["frequency"] for mode in found["modes"]]
    np.testing.assert_allclose(frequencies, expected, rtol=2e-4)
    assert all(abs(mode["damping"]) < 1e-6 for mode in found["modes"])
    code, out, _ = call(capsys, "modes", path, "-n", "2")
    assert "frequency [Hz]" in out and out.count("\n") == 3


def test_damping_of_a_mode_is_that_of_the_material():
    # Kelvin-Voigt: ratio = mu omega / 2
    robot = ag.Robot("beam", gravity=(0, 0, 0))
    material = ag.Material(young=1e8, density=1000, damping=1e-3)
    robot.add(ag.Rod(1.0, ag.Circle(0.01), material, ag.Strains(bend_z=4)), at=robot.ground)
    for mode in natural_modes(ag.statics(robot))[:2]:
        assert mode["damping"] == pytest.approx(1e-3 * 2 * np.pi * mode["frequency"] / 2, rel=1e-9)


# plot, video, convert, bench, view ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    folder = tmp_path_factory.mktemp("result")
    (folder / "rod.yaml").write_text(ROD)
    run = ag.simulate(read_robot(folder / "rod.yaml"), duration=0.1, dt=0.01)
    return run.save(folder / "run.nc")


def test_plot_and_video(result, tmp_path, capsys):
    assert call(capsys, "plot", result, tmp_path / "run.png")[0] == DONE
    assert call(capsys, "video", result, tmp_path / "run.gif", "--fps", "20", "--speed", "0.5")[0] == DONE
    from PIL import Image

    with Image.open(tmp_path / "run.gif") as picture:
        assert picture.n_frames == 5 and picture.size == (640, 480)
    code, found = machine(capsys, "video", result, tmp_path / "run.html")
    assert code == DONE and Path(found["files"]["video"]).stat().st_size > 10_000


def test_video_without_ffmpeg_says_what_to_do(result, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("anguilla.view.video.ffmpeg", lambda: None)
    code, _, err = call(capsys, "video", result, tmp_path / "run.mp4")
    assert code == NOT_INSTALLED and "ffmpeg" in err and ".gif" in err and not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["csv", "npz", "mat", "pvd", "nc", "html", "png"])
def test_convert_results(kind, result, tmp_path, capsys):
    code, found = machine(capsys, "convert", result, tmp_path / f"run.{kind}")
    assert code == DONE and Path(found["files"][kind]).stat().st_size > 100


def test_convert_robots(tmp_path, capsys):
    flat = tmp_path / "arm.yaml"
    assert call(capsys, "convert", ROBOTS / "arm_release.yaml", flat, "--set", "length=0.5")[0] == DONE
    assert "include" not in flat.read_text() and read_robot(flat).part("arm").length == 0.5
    assert call(capsys, "convert", ROBOTS / "two_link.urdf", tmp_path / "two.yaml")[0] == DONE
    assert [part.name for part in read_robot(tmp_path / "two.yaml").parts] == ["upper", "lower"]
    assert call(capsys, "convert", flat, tmp_path / "arm.json")[0] == DONE
    assert json.loads((tmp_path / "arm.json").read_text())["name"] == "soft_arm"


def test_bench(robot, capsys):
    code, found = machine(capsys, "bench", robot, "--steps", "20", "--rounds", "2")
    assert code == DONE and 0 < found["microseconds_per_step"] < 1e6
    code, out, _ = call(capsys, "bench", "--steps", "10", "--rounds", "1")
    assert code == DONE and "tendon_arm" in out and "times real time" in out


def test_view_without_viser_says_what_to_install(result, capsys, monkeypatch):
    monkeypatch.setattr("anguilla.cli.viewer.find_spec", lambda name: None)
    code, _, err = call(capsys, "view", result)
    assert code == NOT_INSTALLED and "pip install viser" in err


# mistakes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["check", "nothing.yaml"], WRONG_INPUT, "no such file"),
        (["simulate", "ROBOT", "--set", "LL=1"], WRONG_INPUT, "did you mean"),
        (["simulate", "ROBOT", "--set", "L"], WRONG_INPUT, "NAME=VALUE"),
        (["simulate", "ROBOT", "--set", "L=__import__('os')"], WRONG_INPUT, "unknown function"),
        (["simulate", "ROBOT", "--input", "pul=1"], WRONG_INPUT, "did you mean 'pull'"),
        (["simulate", "ROBOT", "--input", "pull=X"], WRONG_INPUT, "may use t only"),
        (["simulate", "ROBOT", "--dt", "0.03"], WRONG_INPUT, "whole number of steps"),
        (["simulate", "ROBOT", "--method", "euler"], WRONG_INPUT, "newmark"),
        (["simulate", "ROBOT", "--out", "run.txt"], WRONG_INPUT, "--out: path must end in .nc"),
        (["simulate", "ROBOT", "--duration", "soon"], MISUSED, "--duration"),
        (["simulate", "ROBOT", "--duraton", "1"], MISUSED, "--duraton"),
        (["simulate"], MISUSED, "ROBOT"),
        (["plot", "nothing.nc", "x.png"], WRONG_INPUT, "no file"),
        (["plot", "ROBOT", "x.png"], WRONG_INPUT, "is a robot, not a result"),
        (["convert", "ROBOT", "x.csv"], WRONG_INPUT, ".yaml"),
        (["statics", "ROBOT", "--plot", "no/x.png"], WRONG_INPUT, "--plot"),
    ],
)
def test_mistakes_are_one_clear_line(arguments, code, words, robot, capsys, monkeypatch):
    monkeypatch.chdir(robot.parent)
    given = [str(robot) if argument == "ROBOT" else argument for argument in arguments]
    found, out, err = call(capsys, *given)
    assert found == code and words in err and "Traceback" not in err and not out
    assert len(list(robot.parent.iterdir())) == 1


def test_a_solver_that_fails_gives_its_advice(tmp_path, capsys):
    path = tmp_path / "bad.yaml"
    path.write_text(ROD)
    code, _, err = call(capsys, "statics", path, "--input", "pull=100")
    assert code == FAILED and "intervals=" in err and err.count("\n") == 1
    code, found = machine(capsys, "statics", path, "--input", "pull=100")
    assert code == FAILED and not found["ok"] and "intervals=" in found["error"]


def test_help_is_quick():
    environment = {"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin", "HOME": str(Path.home())}
    command = [sys.executable, "-m", "anguilla", "--help"]
    best, goal, tries = np.inf, 1.2, 4
    while best >= goal and tries:
        tries -= 1
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True, env=environment)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert best < goal, "0.5 s of computing on a quiet machine"
    code = "import sys; from anguilla.cli.app import app; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment)
    for heavy in ("numba", "scipy", "matplotlib", "xarray", "h5py", "viser", "ruamel.yaml"):
        assert heavy not in loaded.stdout.split(), heavy


@pytest.mark.parametrize("command", ["demo", "new", "check", "statics", "simulate", "inverse", "modes", "view", "plot",
                                     "video", "convert", "bench", "schema", "info"])  # fmt: skip
def test_help_of_every_command(command, capsys):
    code, out, _ = call(capsys, command, "--help")
    assert code == DONE and command in out


def test_units_are_not_swallowed_by_the_help(capsys):
    assert "[s]" in call(capsys, "simulate", "--help")[1]


# inverse --------------------------------------------------------------------------------------------------------------


def test_inverse_finds_inputs_that_reach(tmp_path, capsys):
    path = tmp_path / "soft.yaml"
    call(capsys, "new", path, "--template", "tendon")
    robot = read_robot(path)
    goal = ag.statics(robot, inputs={"a1": 3.0, "b2": 2.0, "c3": 1.0}).position(robot.part("c").tip)
    target = "c.tip=" + ",".join(f"{x:.6f}" for x in goal)
    code, found = machine(
        capsys, "inverse", path, "--target", target, "--max-input", "30", "--out", tmp_path / "there.nc"
    )
    assert code == DONE and found["distance"] < 1e-5
    assert all(0.0 <= value <= 30.0 for value in found["inputs"].values())
    # the inputs it names lead there, in another solution from the rest shape; and the file holds that equilibrium
    again = ag.statics(robot, inputs=found["inputs"])
    np.testing.assert_allclose(again.position(robot.part("c").tip), goal, atol=2e-5)
    saved = ag.load(tmp_path / "there.nc")
    np.testing.assert_allclose(saved.position(saved.robot.part("c").tip), goal, atol=2e-5)


def test_inverse_goes_as_near_as_the_limits_allow(robot, tmp_path, capsys):
    code, out, _ = call(capsys, "inverse", robot, "--target", "arm.tip=0.2,0.3,0", "--limit", "pull=0,0.5",
                        "--plot", tmp_path / "near.png")  # fmt: skip
    assert code == FAILED and "out of reach" in out and (tmp_path / "near.png").exists()
    code, found = machine(capsys, "inverse", robot, "--target", "arm.tip=0.2,0.3,0", "--limit", "pull=0,0.5")
    assert found["inputs"]["pull"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--target", "amr.tip=0,0,0"], "did you mean 'arm'"),
        (["--target", "arm=0,0,0"], "arm.tip"),
        (["--target", "arm.tip=0,0"], "3 numbers"),
        (["--target", "arm.tip=0,0,0", "--limit", "pull=2,1"], "from low to high"),
        (["--target", "arm.tip=0,0,0", "--limit", "push=0,1"], "no actuator 'push'"),
    ],
)
def test_inverse_says_what_is_wrong(options, words, robot, capsys):
    code, _, err = call(capsys, "inverse", robot, *options)
    assert code == WRONG_INPUT and words in err and err.count("\n") == 1


def test_inverse_is_for_open_robots(tmp_path, capsys):
    path = tmp_path / "loop.yaml"
    path.write_text(ROD + "closures:\n  hold: {a: ground, b: arm.tip, joint: spherical, pose: [0.35, 0, 0]}\n")
    code, _, err = call(capsys, "inverse", path, "--target", "arm[0.2]=0.2,0,0")
    assert code == WRONG_INPUT and "open robots" in err


def test_modes_of_a_closed_robot(tmp_path, capsys):
    # clamped and pinned: f = 15.4182 / 2 pi sqrt(E I / rho A) / L^2
    path = tmp_path / "beam.yaml"
    path.write_text("""
gravity: [0, 0, 0]
parts:
  beam:
    rod: {length: 1, section: {type: circle, radius: 0.005}, material: {young: 1e9, density: 1000},
          strains: {bend_z: 7, stretch: 2}, intervals: 30}
    at: ground
closures:
  pin: {a: ground, b: beam.tip, joint: {type: revolute, axis: [0, 0, 1]}, pose: [1, 0, 0]}
""")
    code, found = machine(capsys, "modes", path, "--count", "1")
    assert code == DONE
    exact = 15.4182 / (2 * np.pi) * np.sqrt(1e9 * 0.005**2 / 4 / 1000)
    assert found["modes"][0]["frequency"] == pytest.approx(exact, rel=1e-3)


def test_video_as_mp4(result, tmp_path, capsys):
    iio = pytest.importorskip("imageio_ffmpeg")
    assert call(capsys, "video", result, tmp_path / "run.mp4", "--fps", "30")[0] == DONE
    count, seconds = iio.count_frames_and_secs(str(tmp_path / "run.mp4"))
    assert count == 4 and seconds == pytest.approx(4 / 30, abs=0.02)


def test_a_result_is_not_taken_for_a_robot(result, capsys):
    assert main(["statics", str(result)]) == WRONG_INPUT
    assert "it is a result, not a robot" in capsys.readouterr().err


def test_a_parameter_is_not_an_input(robot, capsys):
    assert main(["statics", str(robot), "--input", "L=0.5"]) == WRONG_INPUT
    assert "--input L: the inputs are pull; it is a parameter, which --set changes." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("module", "option", "name"), [("h5py", "--out", "run.nc"), ("matplotlib", "--plot", "run.png")]
)
def test_a_missing_package_is_named_before_the_work_begins(tmp_path, monkeypatch, capsys, module, option, name):
    """Not after an hour of it."""
    monkeypatch.chdir(tmp_path)
    assert main(["new", "arm.yaml", "--template", "arm"]) == 0
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr("anguilla.solve.steps.dynamics.simulate", lambda *_, **__: pytest.fail("it simulates"))
    assert main(["simulate", "arm.yaml", option, name]) == 4
    assert f"need {module}: pip install {module}" in capsys.readouterr().err
