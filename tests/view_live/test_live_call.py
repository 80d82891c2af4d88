"""`ag.view(...)`: one call opens the viewer on whatever there is to see, and `anguilla.view` stays a package."""

import sys

import pytest

import anguilla as ag

pytest.importorskip("viser")


@pytest.fixture(scope="module")
def run(arm):
    return ag.simulate(arm, duration=0.05, dt=0.01)


def test_a_result_a_robot_and_a_file_are_shown(arm, run, tmp_path, capsys):
    ag.write_robot(arm, tmp_path / "arm.yaml")
    run.save(tmp_path / "run.nc")
    for what, kind in (
        (run, "Player"),
        (arm, "Driver"),
        (tmp_path / "arm.yaml", "Driver"),
        (tmp_path / "run.nc", "Player"),
    ):
        shown = ag.view(what, wait=False, browser=False, port=8330)
        shown.close()
        assert type(shown).__name__ == kind
        assert capsys.readouterr().out.strip() == f"open {shown.address}"


def test_a_soft_volume_is_shown():
    block = ag.fem.SoftBody("block", ag.fem.block((0.1, 0.02, 0.02), (4, 1, 1)), ag.Material(5e5, 1050, poisson=0.45))
    block.fix("base")
    shown = ag.view(ag.fem.statics(block), wait=False, browser=False, port=8331, colour="displacement")
    shown.wait(0.01)
    shown.close()
    assert shown.colour == "displacement"


def test_a_script_waits_and_a_prompt_does_not(run, monkeypatch):
    waited = []

    def interrupted(self, seconds=None):
        waited.append(seconds)
        raise KeyboardInterrupt

    monkeypatch.setattr("anguilla.view.shown.Shown.wait", interrupted)
    monkeypatch.delattr(sys, "ps1", raising=False)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    ag.view(run, browser=False, port=8332)  # Ctrl-C ends it without a traceback
    assert waited == [None]
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    ag.view(run, browser=False, port=8332).close()
    assert waited == [None]


def test_what_cannot_be_seen_is_refused():
    with pytest.raises(ag.DescriptionError, match="a result, a robot, a soft body, or a file"):
        ag.view(3.0)


def test_it_is_still_a_package():
    import anguilla.view.plots

    assert anguilla.view.plots.plot is ag.plot
    assert callable(ag.view) and ag.view is sys.modules["anguilla.view"]
