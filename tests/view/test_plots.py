import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

import anguilla as ag
from anguilla.view import plots


def finite_lines(ax) -> bool:
    return all(np.isfinite(np.asarray(line.get_xydata(), dtype=float)).all() for line in ax.lines)


def titled(fig: Figure, start: str):
    return [ax for ax in fig.axes if ax.get_title(loc="left").startswith(start)]


def test_overview_of_a_motion(case):
    fig = ag.plot(case.run)
    assert isinstance(fig, Figure)
    # shapes, time scale, tip, energies, and three strain maps with their scales
    assert len(fig.axes) == 10
    (tip,) = titled(fig, "position of blade.tip")
    (energy,) = titled(fig, "energies")
    assert len(tip.lines) == 3 and len(energy.lines) == 4
    assert all(finite_lines(ax) for ax in fig.axes)
    assert len(titled(fig, "blade: ")) == 3


def test_overview_of_an_equilibrium(case):
    fig = ag.plot(case.eq)
    # the shape; curvatures of the arm, curvatures and strains of the blade
    assert len(fig.axes) == 4
    assert [len(ax.lines) for ax in fig.axes[1:]] == [3, 3, 3]
    assert all(finite_lines(ax) for ax in fig.axes)


def test_snapshots_choose_the_plane_of_a_planar_motion(flat_run):
    fig = plots.snapshots(flat_run, count=5)
    ax = fig.axes[0]
    assert ax.name == "rectilinear" and ax.get_aspect() == 1.0
    assert len(ax.patches) == 5
    assert ax.get_xlabel() == "x [cm]" and ax.get_ylabel() == "z [cm]"
    root = ax.patches[0].get_path().vertices
    assert np.isfinite(root).all()
    # the first silhouette is the straight rod: 40 cm by 2 cm
    np.testing.assert_allclose(np.ptp(root, axis=0), [40.0, 2.0], atol=1e-9)


def test_snapshots_of_a_spatial_motion_are_solid(case):
    fig = plots.snapshots(case.run, count=4)
    ax = fig.axes[0]
    assert ax.name == "3d"
    (solid,) = ax.collections
    sides = 47 * 24 + 2 * 24
    assert len(solid.get_facecolor()) == 4 * 2 * sides
    # one scale on all axes: the box has the proportions of the limits
    size = np.array([np.ptp(ax.get_xlim()), np.ptp(ax.get_ylim()), np.ptp(ax.get_zlim())])
    np.testing.assert_allclose(ax._box_aspect / size, ax._box_aspect[0] / size[0], rtol=1e-9)


def test_tip_history_shows_the_positions(case):
    fig = plots.tip_history(case.run, case.arm.tip)
    x, _, z = fig.axes[0].lines
    path = case.run.position(case.arm.tip)
    np.testing.assert_allclose(x.get_ydata(), 100.0 * path[:, 0], atol=1e-9)
    np.testing.assert_allclose(z.get_ydata(), 100.0 * path[:, 2], atol=1e-9)


def test_strain_map_shows_the_field(case):
    fig = plots.strain_map(case.run, case.blade, "stretch")
    values = fig.axes[0].collections[0].get_array()
    expected = case.run.strain(case.blade, np.linspace(0.0, 0.2, 120))[:, :, 3] - 1.0
    np.testing.assert_allclose(np.asarray(values).ravel(), expected.T.ravel(), atol=1e-12)


def test_wrench_map_shows_the_internal_moments(case):
    fig = plots.wrench_map(case.run, case.blade, "moment_y")
    values = np.asarray(fig.axes[0].collections[0].get_array()).reshape(120, -1)
    expected = case.run.wrench(case.blade, np.linspace(0.0, 0.2, 120))[:, :, 1]
    np.testing.assert_allclose(values, expected.T, atol=1e-12)
    with pytest.raises(ag.DescriptionError, match=r"did you mean 'moment_y'"):
        plots.wrench_map(case.run, case.blade, "momenty")


def test_phase_begins_at_the_start_and_goes_through_all_states(case):
    label = case.run.coordinates[1]
    fig = plots.phase(case.run, label)
    segments = np.array(fig.axes[0].collections[0].get_segments())
    np.testing.assert_allclose(segments[:, 1], np.stack([case.run.q[1:, 1], case.run.v[1:, 1]], axis=1))
    np.testing.assert_allclose(fig.axes[0].lines[0].get_xydata()[0], [case.run.q[0, 1], case.run.v[0, 1]])
    with pytest.raises(ag.DescriptionError, match="coordinate must be one of"):
        plots.phase(case.run, "arm.knee")


def test_energies_add_up(case):
    ax = plots.energies(case.run).axes[0]
    assert {text.get_text() for text in ax.texts} == {"total", "elastic", "kinetic", "gravitational"}
    total, *parts = (line.get_ydata() for line in ax.lines)
    np.testing.assert_allclose(total, sum(parts), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")])
def test_files_are_written_whole(case, tmp_path, suffix, start):
    path = tmp_path / f"figure{suffix}"
    plots.tip_history(case.run, path=path)
    assert path.read_bytes().startswith(start)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_user_settings_come_back(case):
    before = dict(matplotlib.rcParams)
    plots.energies(case.run)
    assert dict(matplotlib.rcParams) == before


def test_errors_name_what_is_valid(case, tmp_path):
    with pytest.raises(ag.DescriptionError, match=r"\.png or \.svg or \.pdf"):
        ag.plot(case.eq, tmp_path / "figure.jpeg")
    with pytest.raises(ag.DescriptionError, match="no folder"):
        ag.plot(case.eq, tmp_path / "nowhere" / "figure.png")
    with pytest.raises(ag.DescriptionError, match=r"did you mean 'bend_y'"):
        plots.strain_map(case.run, case.arm, "bendy")
    with pytest.raises(ag.DescriptionError, match="'auto', 'plane', '3d'"):
        plots.snapshots(case.run, view="side")
    with pytest.raises(ag.DescriptionError, match="needs a motion"):
        plots.energies(case.eq)  # type: ignore[arg-type]
    other = ag.Robot("other")
    rod = other.add(case.arm.rod, at=other.ground)
    with pytest.raises(ag.DescriptionError, match="two_rods"):
        plots.strain_map(case.run, rod, "twist")
    assert list(tmp_path.iterdir()) == []
