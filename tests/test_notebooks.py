"""The teaching notebooks run from the first cell to the last in a kernel of their own, and are stored without outputs."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")


def run(notebook, folder):
    """Run all cells; warnings appear as stderr."""
    environment = {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])}
    environment["MPLBACKEND"] = ""  # of the kernel, not of the tests
    resources = {"metadata": {"path": str(folder)}}
    client = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=resources)
    client.execute(env=os.environ | environment)
    return notebook


def shown(cell):
    """What a cell shows, by kind, in order."""
    return [out.get("data", {}) for out in cell.outputs if out.output_type in ("execute_result", "display_data")]


def test_there_are_six_short_ones_without_outputs():
    assert len(NOTEBOOKS) == 6
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, 4)
        nbformat.validate(notebook)
        assert len(notebook.cells) < 20, path.name
        assert not any(cell.get("outputs") for cell in notebook.cells), path.name


# Starting a kernel takes longer than most notebooks: all but the first are left to the slow tests.
MARKS = {path: [pytest.mark.slow] if path.stem[0] in "23456" else [] for path in NOTEBOOKS}


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem, marks=MARKS[path]) for path in NOTEBOOKS])
def test_a_notebook_runs(path, tmp_path):
    done = run(nbformat.read(path, 4), tmp_path)
    code = [cell for cell in done.cells if cell.cell_type == "code"]
    assert not [out for cell in code for out in cell.outputs if out.get("name") == "stderr"]
    pages = [data["text/html"] for cell in code for data in shown(cell) if "text/html" in data]
    assert any("<iframe srcdoc=" in page for page in pages), "it shows no robot"
    assert max(map(len, pages)) < 3e6


CELLS = """
import anguilla as ag
rod = ag.Rod(0.2, ag.Circle(0.01), ag.Material(young=1e6, density=1000, damping=0.01), ag.planar(2))
robot = ag.Robot("arm"); arm = robot.add(rod, at=robot.ground); eq = ag.statics(robot)
#
ag.plot(eq)
#
import matplotlib.pyplot as plt
ag.plot(eq)
#
from anguilla.solve.newton import progress
progress.PATIENCE = 0.0
run = ag.simulate(robot, duration=0.1, dt=0.01)
#
ag.animate(run, "arm.html")
#
robot
"""


def test_values_of_cells_show_themselves_once(tmp_path):
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS.split("#\n")])
    first, plot, with_pyplot, bar, path, robot = run(made, tmp_path).cells
    assert not first.outputs
    for cell in (plot, with_pyplot):
        (only,) = shown(cell)
        assert len(only["image/png"]) > 10_000
    (seen,) = shown(bar)  # a bar that was taken away
    assert seen["text/html"] == ""
    assert (tmp_path / "arm.html").exists() and "Path" in shown(path)[0]["text/plain"]
    assert "arm" in shown(robot)[0]["text/html"]
