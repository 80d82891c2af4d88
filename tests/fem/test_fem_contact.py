"""Soft bodies that touch obstacles, against closed forms: pressed blocks, Hertz, slopes, bounces."""

import numpy as np
import pytest

import anguilla as ag
from anguilla import fem
from anguilla.fem.contact import Touching, obstacle_pieces
from anguilla.fem.pressing import HOLDS, SLIDES
from anguilla.fem.system import SoftState, SoftSystem

YOUNG, POISSON = 1e5, 0.3
SOFT = ag.Material(young=YOUNG, poisson=POISSON, density=1000)


def slab(size=(0.1, 0.1, 0.05), cells=(2, 2, 2), damping=0.0, gravity=(0, 0, 0), **options):
    material = ag.Material(young=YOUNG, poisson=POISSON, density=1000, damping=damping)
    return fem.SoftBody("slab", fem.block(size, cells), material, gravity=gravity, **options)


def bottom(body):
    return float(body.mesh.points[:, 2].min())


@pytest.mark.parametrize("element", ["linear", "quadratic"])
def test_pressed_block_is_in_uniform_stress(element):
    """Between smooth plates a block is in one-dimensional stress: the force is E A times the strain."""
    body = slab((0.1, 0.1, 0.1), (2, 2, 2), element=element)
    body.fix(lambda x: x[:, 0] < 1e-9, "x")
    body.fix(lambda x: x[:, 1] < -0.05 + 1e-9, "y")
    stiff, smooth, nearer = 1e9, 1e-8, 1e-5
    low, high = (lambda x: x[:, 2] < -0.05 + 1e-9), (lambda x: x[:, 2] > 0.05 - 1e-9)
    floor = ag.Contact(body, ag.HalfSpace(offset=-0.05), stiff, smooth=smooth, surface=low)
    plate = ag.Contact(body, ag.HalfSpace((0, 0, -1), -0.05 + nearer), stiff, smooth=smooth, surface=high)
    body.load(floor)
    body.load(plate)
    found = fem.statics(body)
    force = found.contact_points(floor).force.sum(axis=0)
    np.testing.assert_allclose(force, -found.contact_points(plate).force.sum(axis=0), atol=1e-9)
    pressure = (nearer - smooth) / (0.1 / YOUNG + 2 / stiff)  # the block and two penalties, one behind the other
    assert force[2] == pytest.approx(-0.01 * pressure, rel=1e-3)
    if element == "linear":
        assert np.ptp(found.stress()) < 1e-4 * found.stress().max()
    assert found.balance < 1e-6


def half_space(n, depth, chi, power, element="quadratic"):
    """A quarter of a large block, fine where a ball of radius 0.1 m sinks in by `depth`; (body, contact, Hertz's force)."""
    radius = 0.1
    length = np.sqrt(radius * depth) / chi
    mesh = fem.block((1.0, 1.0, 1.0), (n, n, n))
    x = (mesh.points - mesh.points.min(axis=0)) / np.ptp(mesh.points, axis=0)
    places = length * np.stack([x[:, 0] ** power, x[:, 1] ** power, -((1 - x[:, 2]) ** power)], axis=1)
    body = fem.SoftBody("half", fem.TetMesh(places, mesh.tets), SOFT, element=element, gravity=(0, 0, 0))
    body.fix(lambda x: x[:, 0] < 1e-12, "x")
    body.fix(lambda x: x[:, 1] < 1e-12, "y")
    body.fix(lambda x: x[:, 2] < -length + 1e-9)
    contact = ag.Contact(body, ag.Sphere((0, 0, radius - depth), radius))
    body.load(contact)
    return body, contact, 4 / 3 * YOUNG / (1 - POISSON**2) * np.sqrt(radius) * depth**1.5


def test_ball_on_half_space_is_hertz():
    """The force of a rigid ball is Hertz's but for what a coarse mesh costs (see the slow test)."""
    body, contact, hertz = half_space(6, 1e-4, 0.05, 2.5)
    force = fem.statics(body).contact_points(contact).force[:, 2].sum()
    assert 4 * force == pytest.approx(hertz, rel=0.06)


@pytest.mark.slow
def test_hertz_by_refinement():
    """Meshes of 6 and 10 cells along a side: the error falls from 9 % to 2 %, of second order in their size."""
    errors = []
    for n in (6, 10):
        body, contact, hertz = half_space(n, 1e-4, 0.02, 3.0)
        errors.append(abs(4 * fem.statics(body).contact_points(contact).force[:, 2].sum() / hertz - 1))
    assert errors[1] < 0.025 < 0.06 < errors[0]


def pressed(friction=0.5, shape=None, slide=0.0):
    """A body against an obstacle, points of which are pushed in by chance, and what they remember."""
    body = slab()
    body.load(ag.Contact(body, shape or ag.Sphere((0.05, 0, -0.07), 0.05), friction=friction, damping=2.0, smooth=1e-4))
    system = SoftSystem(body)
    rng = np.random.default_rng(3)
    x = system.rest.x + 1e-3 * rng.standard_normal(system.rest.x.shape)
    touching = system.touching
    grip = touching.grip(x - slide * np.array([1.0, 0.4, 0.1]), rate=100.0)
    return touching, x, grip


@pytest.mark.parametrize("slide", [1e-6, 1e-3])
@pytest.mark.parametrize(
    "shape",
    [
        ag.HalfSpace(offset=-0.0245),
        ag.Sphere((0.05, 0, -0.07), 0.05),
        ag.Box((0.05, 0, -0.05), (0.2, 0.2, 0.052)),
        ag.HeightField(np.zeros((9, 9)), 0.03, pose=(-0.07, -0.12, -0.0245), margin=0.1),
    ],
    ids=lambda shape: type(shape).__name__,
)
def test_change_of_forces_is_exact(shape, slide):
    """Derivatives against differences, of points that hold and of points that slide."""
    touching, x, grip = pressed(0.5, shape, slide)
    here = touching.press(x, grip=grip)
    wanted = HOLDS if slide < 1e-4 else SLIDES
    on = np.flatnonzero(here.state[:, 0] == wanted)
    assert len(on) >= 1
    rng, step = np.random.default_rng(0), 1e-8
    d = rng.standard_normal(x.shape)
    ahead, behind = (touching.press(x + s * step * d, grip=grip).force[on] for s in (1, -1))
    exact = np.einsum("kij,kj->ki", here.change[on].reshape(-1, 3, 3), touching.places(d, on))
    np.testing.assert_allclose((ahead - behind) / (2 * step), exact, atol=1e-6 * np.abs(exact).max())


def test_forces_of_smooth_contact_come_from_an_energy():
    """Without friction and damping, the force is minus the slope of the energy."""
    touching, x, _ = pressed(0.0)
    d, step = np.random.default_rng(1).standard_normal(x.shape), 1e-7
    slope = (touching.press(x + step * d).kept.sum() - touching.press(x - step * d).kept.sum()) / (2 * step)
    force = touching.press(x).force
    assert slope == pytest.approx(-float(np.sum(force * touching.places(d))), rel=1e-7)


def test_shares_of_the_surface():
    """Points share all of the surface, also those between nodes."""
    body = slab()
    for spacing in (None, 0.013):
        body.contacts.clear()
        body.load(ag.Contact(body, ag.HalfSpace(offset=-1.0), 1e6, spacing=spacing))
        system = SoftSystem(body)
        touching = system.touching
        assert touching.law[:, 0].sum() == pytest.approx(1e6 * (2 * 0.01 + 4 * 0.005), rel=1e-12)
        np.testing.assert_allclose(touching.weights.sum(axis=1), 1.0, atol=1e-14)
    assert isinstance(touching, Touching) and len(touching.nodes) > len(system.rest.x)


def on_slope(tangent, friction, duration=0.15, **options):
    angle = np.arctan(tangent)
    gravity = 9.81 * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    body = slab((0.1, 0.1, 0.05), (2, 2, 1), damping=0.02, gravity=gravity)
    contact = ag.Contact(body, ag.HalfSpace(offset=-0.025), friction=friction, damping=1.0)
    body.load(contact)
    return fem.simulate(body, duration=duration, dt=1e-3, **options), contact, angle


def test_block_stays_on_a_slope_below_the_angle_of_friction():
    """It holds, does not creep, and the forces are those of its weight."""
    run, contact, angle = on_slope(0.45, 0.5, duration=0.3)
    middle = run.x.mean(axis=1)[:, 0]
    assert middle[-1] - middle[0] < 3e-4
    assert abs(middle[-1] - middle[-50]) < 1e-8
    force = run.contact_points(contact)[-1].force.sum(axis=0) / (0.5 * 9.81)
    np.testing.assert_allclose(force, [np.sin(angle), 0.0, -np.cos(angle)], atol=1e-6)
    again = fem.statics(run.system, start=_as_equilibrium(run))
    assert again.balance < 1e-8
    np.testing.assert_allclose(again.x, run.x[-1], atol=1e-7)


def _as_equilibrium(run):
    state = SoftState(run.x[-1], run.system.rest.rotations)
    return fem.SoftEquilibrium(run.body, run.system, state, np.zeros(0), run.status, None, run.touched[-1])


def test_block_slides_down_a_steeper_slope():
    """Its acceleration is g (sin - friction cos)."""
    run, _, angle = on_slope(0.7, 0.5)
    v = run.v.mean(axis=1)[:, 0]
    slope = np.polyfit(run.t[50:], v[50:], 1)[0]
    assert slope == pytest.approx(9.81 * (np.sin(angle) - 0.5 * np.cos(angle)), rel=5e-3)


@pytest.mark.filterwarnings("ignore:The time steps of:anguilla.AnguillaWarning")  # they are long for an impact
@pytest.mark.parametrize("method", ["newmark", "hht", "generalised_alpha"])
def test_a_bounce_gains_no_energy(method):
    """An undamped block falls and leaves again; steps are much longer than the chatter of its nodes."""
    body = slab((0.05, 0.05, 0.05), gravity=(0, 0, -9.81))
    body.load(ag.Contact(body, ag.HalfSpace(offset=-0.035)))
    run = fem.simulate(body, duration=0.1, dt=2e-3, method=method)
    system = run.system
    inner = [system.evaluate(SoftState(x, system.rest.rotations), np.zeros(0))[0] for x in run.x]
    total = run.kinetic_energy + np.array(inner)
    fallen = np.ptp(run.kinetic_energy)
    assert total.max() - total[0] < 1e-9 * fallen
    assert len(run.touched[25].point) > 0 and not len(run.touched[0].point)


@pytest.mark.filterwarnings("ignore:The time steps of:anguilla.AnguillaWarning")  # they are long for an impact
def test_a_bounce_loses_less_with_shorter_steps():
    losses = []
    for dt in (2e-3, 5e-4):
        body = slab((0.05, 0.05, 0.05), gravity=(0, 0, -9.81))
        body.load(ag.Contact(body, ag.HalfSpace(offset=-0.045)))
        run = fem.simulate(body, duration=0.2, dt=dt)
        inner = [run.system.evaluate(SoftState(run.x[k], run.system.rest.rotations), np.zeros(0))[0] for k in (0, -1)]
        losses.append(run.kinetic_energy[0] + inner[0] - run.kinetic_energy[-1] - inner[1])
    assert 0.0 < losses[1] < 0.6 * losses[0]


def test_stepper_is_the_same():
    body = slab(damping=0.01, gravity=(0.0, 0.0, -9.81))
    contact = ag.Contact(body, ag.HalfSpace(offset=-0.025), friction=0.4)
    body.load(contact)
    run = fem.simulate(body, duration=0.02, dt=2e-3, tolerance=1e-9)
    stepper = fem.Stepper(body, dt=2e-3, tolerance=1e-9)
    stepper.step(10)
    np.testing.assert_allclose(stepper.x, run.x[-1], atol=1e-12)
    told = stepper.result().contact_points(contact)[0]
    np.testing.assert_allclose(told.force, run.contact_points(contact)[-1].force, atol=1e-9)
    assert len(run[::5].touched) == len(run[::5].t)


def test_part_of_the_surface():
    """What carries a block is its weight, whichever faces may touch; faces that may not are not felt."""
    for where, carried in ((None, 0.5), (lambda x: x[:, 2] < -0.025 + 1e-9, 0.5)):
        body = slab(gravity=(0, 0, -9.81))
        body.fix(lambda x: x[:, 0] < 1e-9, "x")
        body.fix(lambda x: x[:, 1] < -0.05 + 1e-9, "y")
        contact = ag.Contact(body, ag.Box((0.05, 0.0, -0.045), (0.3, 0.3, 0.04)), surface=where)
        body.load(contact)
        force = fem.statics(body).contact_points(contact).force.sum(axis=0)
        np.testing.assert_allclose(force, [0.0, 0.0, -9.81 * carried], atol=1e-7)
    body.contacts.clear()
    body.load(ag.Contact(body, ag.HalfSpace(offset=-0.025), surface=lambda x: x[:, 2] > 0.025 - 1e-9))
    assert fem.statics(body).x[:, 2].max() == pytest.approx(-0.025, abs=1e-4)  # it falls until its upper side is caught


def test_refusals():
    body, other = slab(), slab()
    with pytest.raises(ag.DescriptionError, match="is of another volume"):
        body.load(ag.Contact(other, ag.HalfSpace()))
    with pytest.raises(ag.DescriptionError, match="touch each other in a robot"):
        ag.Contact(body, other)
    with pytest.raises(ag.DescriptionError, match=r"Contact\.friction"):
        ag.Contact(body, ag.HalfSpace(), friction=-1.0)
    with pytest.raises(ag.DescriptionError, match="an obstacle, a body, a rod or a volume"):
        ag.Contact(body, "floor")
    with pytest.raises(ag.DescriptionError, match="takes no slip"):
        ag.Contact(body, ag.HalfSpace(), slip=1e-3)
    body.load(ag.Contact(body, ag.HalfSpace(offset=-0.03)))
    with pytest.raises(ag.DescriptionError, match="Midpoint supports bodies without contact"):
        fem.simulate(body, duration=0.01, dt=1e-3, method="midpoint")
    body.fix("base")
    for use in (fem.gradient, fem.modes, fem.linearise):
        with pytest.raises(ag.DescriptionError, match="is not available for"):
            use(fem.statics(body), *(({},) if use is fem.gradient else ()))
    free = slab(gravity=(0, 0, -9.81))
    free.load(ag.Contact(free, ag.HalfSpace(offset=-0.025)))
    with pytest.raises(ag.SolverError):
        fem.statics(free)


def test_pieces_of_grids_follow_each_other():
    body = slab()
    pieces, grids = obstacle_pieces([ag.Contact(body, ag.HalfSpace()), ag.Contact(body, ag.Sphere((0, 0, 0), 1.0))])
    assert len(pieces) == 2 and len(grids) == 0
