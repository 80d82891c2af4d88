"""Results of soft volumes in files: what is read back is what was computed, to the last bit; bad files are refused."""

import json

import h5netcdf
import numpy as np
import pytest
from fem_bodies import RUBBER, bar, everything

import anguilla as ag
from anguilla import fem
from anguilla.store.hdf5 import sealed
from anguilla.view import plots


def full():
    """A body with one of everything, also what JSON has no words for: functions, infinity, empty sets, own triangles."""
    mesh = fem.finger(cells=(4, 2, 2))
    half = np.flatnonzero(mesh.points[mesh.tets].mean(axis=1)[:, 0] > 0.05)
    nodes = {**mesh.nodes, "nothing": [], "upside down": mesh.nodes["tip"][::-1]}
    mesh = fem.TetMesh(mesh.points, mesh.tets, nodes, mesh.surfaces, {"front": half})
    body = fem.SoftBody("full", mesh, RUBBER, law="neo_hookean", element="quadratic", gravity=(0.1, 0.0, -9.81))
    body.paint("front", ag.Material(young=2e6, density=1200.0, shear=0.8e6, damping=0.01))
    body.fix("base")
    body.fix([40], "z")
    body.rigid("cap", "upside down")
    guides = [(0.01, 0, 0.009), (0.05, 0.002, 0.009), (0.09, 0, 0.009)]
    body.actuate("pull", fem.Tendon(guides, origin=(-0.02, 0.003, 0.01), force=(0.0, 10 / 3), friction=0.1, pad=0.004))
    body.actuate("air", fem.Chamber(mesh.surfaces["chamber"], pressure=(-float("inf"), 5e4), fluid_density=1000.0))
    body.sense("string", fem.String(guides))
    body.effector("tip", fem.Effector((0.1, 0, 0), orientation=True, radius=0.012))
    body.effector("middle", (0.05, 0.0, -0.009))
    body.load(fem.PointForce((0.05, 0.0, 0.009), (0.0, 0.01, 0.0)))
    body.load(fem.PointForce((0.07, 0.0, 0.009), lambda t: (0.0, 0.0, 0.02 * np.cos(t))))
    body.cover(fem.Layer(mesh.boundary[:20], 1e-4, RUBBER))
    return body


@pytest.fixture(scope="module")
def equilibrium():
    return fem.statics(full(), inputs={"pull": 0.05, "air": 100.0})


@pytest.fixture(scope="module")
def path(equilibrium, tmp_path_factory):
    return equilibrium.save(tmp_path_factory.mktemp("keep") / "eq.nc")


@pytest.fixture(scope="module")
def motion():
    body = bar(cells=(6, 1, 1), element="quadratic")
    body.actuate("pull", fem.Tendon([(0.0, 0.0, 0.004), (0.1, 0.0, 0.004)]))
    body.actuate("other", fem.Tendon([(0.0, 0.0, -0.004), (0.1, 0.0, -0.004)]))
    body.load(fem.PointForce((0.1, 0.0, 0.0), lambda t: (0.0, 0.01 * np.sin(40.0 * t), 0.0)))
    return fem.simulate(body, duration=0.02, dt=0.002, inputs={"pull": lambda t: 5.0 * t, "other": 0.03})


def test_an_equilibrium_comes_back_to_the_last_bit(equilibrium, path):
    again = ag.load(path)
    assert isinstance(again, fem.SoftEquilibrium)
    assert np.array_equal(again.x, equilibrium.x)
    assert np.array_equal(again.state.rotations, equilibrium.state.rotations)
    assert np.array_equal(again.efforts, equilibrium.efforts) and again.inputs == equilibrium.inputs
    assert again.status == equilibrium.status and repr(again) == repr(equilibrium)


def test_all_that_follows_from_it_comes_back(equilibrium, path):
    again = ag.load(path)
    assert again.energy == equilibrium.energy and again.imbalance == equilibrium.imbalance
    for name in ("tip", "middle"):
        assert np.array_equal(again.position(name), equilibrium.position(name))
    assert np.array_equal(again.rotation("tip"), equilibrium.rotation("tip"))
    assert again.length("string") == equilibrium.length("string")
    assert again.volume("air") == equilibrium.volume("air") and again.stroke("pull") == equilibrium.stroke("pull")
    assert np.array_equal(again.stress(), equilibrium.stress())
    assert np.array_equal(again.reaction(), equilibrium.reaction())
    assert np.array_equal(again.surface(), equilibrium.surface())


def test_the_body_comes_back(equilibrium, path):
    body, own = ag.load(path).body, equilibrium.body
    for name in ("points", "tets"):
        assert np.array_equal(getattr(body.mesh, name), getattr(own.mesh, name))
    for kind in ("nodes", "surfaces", "regions"):
        mine, found = getattr(own.mesh, kind), getattr(body.mesh, kind)
        assert list(found) == list(mine) and all(np.array_equal(found[name], mine[name]) for name in mine)
    assert (body.name, body.law, body.element) == ("full", "neo_hookean", "quadratic")
    assert body.material == own.material and body.materials == own.materials
    assert np.array_equal(body.fixed, own.fixed) and np.array_equal(body.gravity, own.gravity)
    assert np.array_equal(body.rigid_parts["cap"], own.rigid_parts["cap"])
    assert body.actuators["pull"].force == (0.0, 10 / 3) and body.actuators["pull"].stroke[1] == float("inf")
    assert body.actuators["air"].pressure == (-float("inf"), 5e4)
    assert np.array_equal(body.layers[0].triangles, own.layers[0].triangles)


def test_a_loaded_equilibrium_is_a_start(path, equilibrium):
    again = ag.load(path)
    on = fem.statics(again.body, inputs=again.inputs, start=again)
    assert np.abs(on.x - equilibrium.x).max() < 1e-9 and on.status.counters["iterations"] <= 2


def test_a_motion_comes_back_to_the_last_bit(motion, tmp_path):
    again = ag.load(motion.save(tmp_path / "run.nc"))
    assert isinstance(again, fem.SoftTrajectory)
    for name in ("t", "x", "v", "mass", "kinetic_energy"):
        assert np.array_equal(getattr(again, name), getattr(motion, name)), name
    assert np.array_equal(again.position("tip"), motion.position("tip"))
    assert again.status == motion.status and repr(again) == repr(motion)
    assert again.inputs["other"] == 0.03
    assert [again.inputs["pull"](t) for t in motion.t] == [5.0 * t for t in motion.t.tolist()]
    # the force is a function in Python: at the stored times its table gives the same
    assert all(np.array_equal(again.body.loads[0].at(t), motion.body.loads[0].at(t)) for t in motion.t.tolist())


def test_what_was_loaded_can_be_saved(motion, tmp_path):
    first = ag.load(motion.save(tmp_path / "first.nc"))
    second = ag.load(first.save(tmp_path / "second.nc"))
    assert np.array_equal(second.x, motion.x) and second.status == motion.status


@pytest.mark.parametrize("element", ["linear", "averaged"])
def test_other_elements_come_back(element, tmp_path):
    eq = fem.statics(everything("st_venant", element), inputs={"pull": 0.05})
    again = ag.load(eq.save(tmp_path / "eq.nc"))
    assert np.array_equal(again.x, eq.x) and again.energy == eq.energy


def test_other_programs_read_it(motion, tmp_path):
    xr = pytest.importorskip("xarray")
    path = motion.save(tmp_path / "run.nc")
    with xr.open_dataset(path, engine="h5netcdf") as data:
        assert np.array_equal(data.position.sel(effector="tip").values, motion.position("tip"))
        assert data.x.attrs["units"] == "m" and data.x.dims == ("time", "node", "axis")
        moved = (data.x - data.rest).values
    assert np.array_equal(moved, motion.x - motion.system.grid.points)
    assert motion.to_xarray().stroke.sel(actuator="pull").shape == motion.t.shape


def test_a_closed_loop_comes_back(tmp_path):
    rng = np.random.default_rng(3)
    run = ag.control.Run(*rng.random((3, 9, 2)), *rng.random((2, 9, 3)), rng.random(9) > 0.5, ("a", "b"))
    again = ag.load(run.save(tmp_path / "loop.nc"))
    assert isinstance(again, ag.control.Run) and again.sensors == ("a", "b") and again.actuators == ()
    for name in ("lengths", "measured", "goals", "commands", "positions", "saturated"):
        assert np.array_equal(getattr(again, name), getattr(run, name)), name
        assert getattr(again, name).dtype == getattr(run, name).dtype


# bad files ------------------------------------------------------------------------------------------------------------


def changed(path, tmp_path, change):
    """A copy of a file with something changed."""
    copy = tmp_path / "changed.nc"
    copy.write_bytes(path.read_bytes())
    with h5netcdf.File(copy, "a") as file:
        change(file)
    copy.write_bytes(sealed(copy.read_bytes()))  # else it is first read in another process, half a second of it
    return copy


def test_a_file_of_a_newer_version_is_refused(path, tmp_path):
    def newer(file):
        file.attrs["anguilla_format"], file.attrs["anguilla_version"] = 2, "9.1.0"

    with pytest.raises(ag.DescriptionError, match=r"newer Anguilla \(9\.1\.0\).*format 2.*reads 1"):
        ag.load(changed(path, tmp_path, newer))


def test_an_unknown_kind_is_refused(path, tmp_path):
    with pytest.raises(ag.DescriptionError, match="does not know: 'soup'"):
        ag.load(changed(path, tmp_path, lambda file: file.attrs.__setitem__("kind", "soup")))


def test_a_file_that_claims_to_be_of_a_robot_is_refused(path, tmp_path):
    with pytest.raises(ag.DescriptionError, match=r"changed\.nc' does not hold a whole result: it lacks 'coordinate'"):
        ag.load(changed(path, tmp_path, lambda file: file.attrs.__setitem__("kind", "equilibrium")))


@pytest.mark.parametrize("part", [0.3, 0.9, 0.999])
def test_a_cut_file_is_refused(path, tmp_path, part):
    (tmp_path / "cut.nc").write_bytes(path.read_bytes()[: int(part * path.stat().st_size)])
    with pytest.raises(ag.DescriptionError, match=r"cut\.nc' is not a netCDF file, or is damaged"):
        ag.load(tmp_path / "cut.nc")


def edit(key, value):
    """A change of the body's text."""

    def change(file):
        text = json.loads(file.variables["body_file"][()])
        text[key] = value
        file.variables["body_file"][...] = json.dumps(text)

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (edit("law", "hooke"), "law must be one of"),
        (edit("layers", [{"type": "Cake"}]), "Cake"),
        (edit("material", {"type": "Material", "young": 1.0}), "density"),
        (edit("nodes", {"base": "nowhere"}), "it lacks 'nowhere'"),
        (edit("element", "linear"), "nodes are not those of the body"),
        (lambda file: file.variables["body_file"].__setitem__(..., "{"), "whole result"),
        (lambda file: file.variables["mesh_tets"].__setitem__((0, 0), 10**6), "must name points"),
        (lambda file: file.attrs.__delitem__("counters"), "it lacks 'counters'"),
    ],
)
def test_a_changed_file_is_refused_in_one_sentence(path, tmp_path, change, words):
    with pytest.raises(ag.DescriptionError, match=words) as refused:
        ag.load(changed(path, tmp_path, change))
    assert str(tmp_path / "changed.nc") in str(refused.value)


class Own(fem.Tendon):
    """A tendon of the user's own, which a file cannot hold."""


def test_a_body_that_no_file_can_hold_is_asked_for(tmp_path):
    body = bar(cells=(4, 1, 1))
    body.actuate("pull", Own([(0.0, 0.0, 0.004), (0.1, 0.0, 0.004)]))
    eq = fem.statics(body, inputs={"pull": 0.1})
    path = eq.save(tmp_path / "own.nc")
    with pytest.raises(ag.DescriptionError, match=r"type Own\): give it with load\(path, robot=body\)"):
        ag.load(path)
    assert np.array_equal(ag.load(path, robot=body).x, eq.x)
    with pytest.raises(ag.DescriptionError, match="nodes are not those"):
        ag.load(path, robot=bar(cells=(5, 1, 1)))
    with pytest.raises(ag.DescriptionError, match="body must be a SoftBody"):
        ag.load(path, robot=ag.Robot("arm"))


def test_figures_for_rods_say_what_shows_volumes(path):
    with pytest.raises(ag.DescriptionError, match=r"ag\.plot, ag\.animate and ag\.view"):
        plots.snapshots(ag.load(path))
