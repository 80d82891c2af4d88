"""The eel of 001: first integrals in vacuum, free tail, power, water, gaits, convergence."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad

from anguilla import lie
from anguilla.describe.profiles import start
from anguilla.reference import eel, gaits, water

BODY = water.eel_body()
NOSE = water.Water(head_drag=1.767146, head_mass=0.441786)  # the variant of the errata
RNG = np.random.default_rng(0)


def moving(t_seed=0):
    """A head with any pose and velocity."""
    rng = np.random.default_rng(t_seed)
    return eel.Head(rng.normal(size=3), lie.exp3(rng.normal(size=3)), 0.3 * rng.normal(size=3), rng.normal(size=3))


# Grid, body, gaits ----------------------------------------------------------------------------------------------------


def test_mass_of_the_eel():
    """21.7 kg as printed; the integral over the round ends is exact."""
    grid = water.gauss_grid(BODY)
    own = water.sections(BODY, NOSE, grid)
    mass = water.integrate(grid, own.area, np.zeros(()))[1]
    pieces = [quad(lambda X: 1e3 * np.pi * np.prod(BODY.semi_axes(np.array([X]))), *ends, epsabs=1e-12)[0]
              for ends in ((0, 0.075), (0.075, water.NECK), (water.NECK, 1.95), (1.95, 2.0))]  # fmt: skip
    assert mass == pytest.approx(sum(pieces), rel=1e-12)
    assert mass == pytest.approx(21.7, abs=1e-6)
    assert own.inertia[..., 1].sum() > own.inertia[..., 2].sum()  # t3 is the long axis: J2 > J3


def test_integration_along_the_body():
    grid = water.gauss_grid(BODY)
    f, end = water.integrate(grid, np.cos(2 * grid.X), np.array(1.0))
    assert f == pytest.approx(1 + np.sin(2 * grid.X) / 2, abs=1e-12)
    assert end == pytest.approx(1 + np.sin(4.0) / 2, abs=1e-13)
    A = np.zeros((*grid.X.shape, 2, 2))
    A[..., 0, 1], A[..., 1, 0] = 1.0, -1.0
    b = np.zeros((*grid.X.shape, 2))
    b[..., 1] = 1.0
    x, end = water.solve(grid, A, b, np.zeros(2))  # x'' = 1 - x
    assert x[..., 0] == pytest.approx(1 - np.cos(grid.X), abs=1e-12)
    assert end == pytest.approx([1 - np.cos(2.0), np.sin(2.0)], abs=1e-13)


@pytest.mark.parametrize("name", gaits.GAITS)
def test_rates_of_the_gaits(name):
    """K_d is twice differentiable, through the start and the dive."""
    X, h = np.linspace(0, 2, 9), 1e-4
    for t in (0.0, 0.3, 0.999, 1.0, 1.7, 5.2, 6.0, 7.3, 12.1):
        (low, *_), now, (high, *_) = (gaits.GAITS[name](X, s) for s in (t - h, t, t + h))
        assert (high - low) / (2 * h) == pytest.approx(now[1], abs=2e-4)
        assert (high - 2 * now[0] + low) / h**2 == pytest.approx(now[2], abs=2e-2)


def test_start_is_smooth_only_with_two_pi():
    """(68) as printed ends at 1 - sin(1)/(2 pi), not at 1."""
    assert start(1.0)[0] == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)
    assert start(0.5)[0, 0] == pytest.approx(0.5)


# Water ----------------------------------------------------------------------------------------------------------------


def test_circular_section_gives_the_model_of_submarine_cables():
    """001, Appendix: P = pi D, C_t, C_n, C_m; no torque on a circle."""
    D, rho, (Ct, Cn, Cm) = 0.16, 1025.0, (0.013, 1.2, 0.9)
    body = water.Body(1.0, lambda X: (np.full_like(X, D / 2), np.full_like(X, D / 2)))
    sea = water.Water(rho, (Ct, Cn, Cn, 1.0, Cm, Cm, 1.0))
    grid = water.gauss_grid(body, 4)
    own = water.sections(body, sea, grid)
    V, acceleration, spin = RNG.normal(size=(3, *grid.X.shape, 3))
    force, moment = water.drag(own, V, spin[..., 0])
    total = force - own.added * acceleration
    vn = np.linalg.norm(V[..., 1:], axis=-1)
    A = np.pi * D**2 / 4
    cable = np.stack([
        -0.5 * rho * Ct * np.pi * D * np.abs(V[..., 0]) * V[..., 0],
        -0.5 * rho * (Cn * D * vn * V[..., 1] + 2 * Cm * A * acceleration[..., 1]),
        -0.5 * rho * (Cn * D * vn * V[..., 2] + 2 * Cm * A * acceleration[..., 2]),
    ], axis=-1)  # fmt: skip
    assert total == pytest.approx(cable, rel=1e-12)
    assert np.abs(moment).max() == 0.0
    assert np.abs(own.added_turn).max() == 0.0


def test_added_mass_of_a_slender_ellipsoid():
    """The resultants of 001 IV: 4/3 rho pi A C^2 along t2, 4/15 rho pi C^2 A^3 about t3, 2/15 rho pi (B^2 - C^2)^2 A."""
    A, B, C, rho = 1.0, 0.05, 0.08, 1000.0

    def semi_axes(X):
        s = np.sqrt(np.clip(1 - (X / A - 1) ** 2, 0, None))
        return B * s, C * s

    body = water.Body(2 * A, semi_axes, (A,), round_ends=True)
    grid = water.gauss_grid(body, 16)
    own = water.sections(body, water.Water(rho), grid)
    arm = grid.X - A
    total = lambda f: water.integrate(grid, f, np.zeros(()))[1]
    assert total(own.added[..., 1]) == pytest.approx(4 / 3 * rho * np.pi * A * C**2, rel=1e-12)
    assert total(own.added[..., 2]) == pytest.approx(4 / 3 * rho * np.pi * A * B**2, rel=1e-12)
    assert total(own.added[..., 1] * arm**2) == pytest.approx(4 / 15 * rho * np.pi * C**2 * A**3, rel=1e-12)
    assert total(own.added_turn) == pytest.approx(2 / 15 * rho * np.pi * (B**2 - C**2) ** 2 * A, rel=1e-12)


@pytest.mark.parametrize("angle", [0.0, 0.4])
def test_straight_towed_body_feels_the_drag_in_closed_form(angle):
    """001 IV, a straight eel in a stream under the angle alpha in the plane (t1, t3), with the signs of (9)."""
    speed = 1.3
    body = replace(BODY, density=1e9)  # so heavy that it does not accelerate
    swimmer = eel.make_eel(body, water.Water(), gaits.straight)
    V = speed * np.array([np.cos(angle), 0.0, np.sin(angle)])
    now = eel.instant(swimmer, eel.Head(np.zeros(3), np.eye(3), V, np.zeros(3)), 0.0)
    force = water.integrate(swimmer.grid, now.force, np.zeros(3))[1]
    ends = (0, 0.075, water.NECK, 1.95, 2.0)
    b, c = (sum(quad(lambda X, i=i: BODY.semi_axes(np.array([X]))[i][0], lo, hi, epsabs=1e-11)[0]
                for lo, hi in pairwise(ends)) for i in (0, 1))  # fmt: skip
    tangential = -0.5 * 1000 * 0.01 * np.pi * (b + c) * abs(V[0]) * V[0]
    normal = -0.5 * 1000 * 2 * b * abs(V[2]) * V[2]
    assert force == pytest.approx([tangential, 0.0, normal], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("axis", [1, 2])
def test_cylinder_sideways_carries_its_added_mass(axis):
    """An elliptic cylinder moved along t2 or t3: (rho A + c_lm) V' = -C_ld V^2, the acceleration of all its sections."""
    b, c, rho, V = 0.03, 0.05, 1000.0, 0.7
    body = water.Body(1.0, lambda X: (np.full_like(X, b), np.full_like(X, c)), density=1300.0)
    swimmer = eel.make_eel(body, water.Water(rho), gaits.straight, points=6)
    now = eel.instant(swimmer, eel.Head(np.zeros(3), np.eye(3), V * np.eye(3)[axis], np.zeros(3)), 0.0)
    width = {1: c, 2: b}[axis]
    acceleration = -0.5 * rho * 2 * width * V**2 / (1300.0 * np.pi * b * c + rho * np.pi * width**2)
    assert now.ddr == pytest.approx(np.broadcast_to(acceleration * np.eye(3)[axis], now.ddr.shape), abs=1e-12)


def test_cylinder_rolling_carries_its_added_inertia():
    """Spinning about its axis: (rho J1 + c_am) dOmega = -C_ad Omega^2."""
    b, c, rho, spin = 0.03, 0.05, 1000.0, 4.0
    body = water.Body(1.0, lambda X: (np.full_like(X, b), np.full_like(X, c)), density=1300.0)
    swimmer = eel.make_eel(body, water.Water(rho), gaits.straight, points=6)
    now = eel.instant(swimmer, eel.Head(np.zeros(3), np.eye(3), np.zeros(3), np.array([spin, 0, 0])), 0.0)
    J1 = 1300.0 * np.pi * b * c * (b**2 + c**2) / 4
    wanted = -0.5 * rho * (b**2 - c**2) ** 2 * spin**2 / (J1 + rho * np.pi / 8 * (b**2 - c**2) ** 2)
    assert now.d_omega_o == pytest.approx([wanted, 0.0, 0.0], rel=1e-12, abs=1e-12)


def test_towed_eel_slows_down_by_the_law_of_quadratic_drag():
    """Set free at V1 = -1 m/s, axially: m V' = -k V^2, so V = V0 / (1 + k V0 t / m); the nose adds its mass and drag."""
    swimmer = eel.make_eel(BODY, NOSE, gaits.straight)
    start = eel.AT_REST.copy()
    start[7] = -1.0
    end = eel.swim(swimmer, [0.0, 5.0], start=start, tolerance=1e-10)[-1]
    k = water.integrate(swimmer.grid, swimmer.own.drag[..., 0], np.zeros(()))[1] + NOSE.head_drag
    m = 21.7 + NOSE.head_mass
    assert end[7] == pytest.approx(-1.0 / (1.0 + k * 5.0 / m), rel=1e-7)


# The two loops --------------------------------------------------------------------------------------------------------


def test_curvature_law_is_the_shape():
    """R' = R K and the time derivatives of (48) to (53): omega and the accelerations, by differences along the motion."""
    swimmer = eel.make_eel(BODY, NOSE, gaits.spiral)
    y, t, h = eel.swim(swimmer, [0.0, 0.7], tolerance=1e-10)[-1], 0.7, 1e-5
    rate = eel.rate(swimmer, t, y)
    second = (eel.rate(swimmer, t + h, y + h * rate) - eel.rate(swimmer, t - h, y - h * rate)) / (2 * h)
    shift = lambda s: eel.instant(swimmer, eel.unpack(y + s * rate + 0.5 * s**2 * second), t + s)
    now, ahead, behind = eel.instant(swimmer, eel.unpack(y), t), shift(h), shift(-h)
    assert (ahead.r - behind.r) / (2 * h) == pytest.approx(now.dr, abs=1e-8)
    assert (ahead.dr - behind.dr) / (2 * h) == pytest.approx(now.ddr, abs=1e-6)
    assert (ahead.omega - behind.omega) / (2 * h) == pytest.approx(now.d_omega, abs=1e-6)
    turned = lie.log3(np.swapaxes(behind.R, -1, -2) @ ahead.R) / (2 * h)
    assert np.einsum("...ij,...j->...i", now.R, turned) == pytest.approx(now.omega, abs=1e-8)


@pytest.mark.parametrize("sea", [water.VACUUM, water.Water(), NOSE], ids=["vacuum", "water", "nose"])
@pytest.mark.parametrize("name", gaits.GAITS)
def test_tail_is_free(name, sea):
    """Figure 10: n and M, integrated from the head, vanish at the tail, for any motion of the head."""
    swimmer = eel.make_eel(BODY, sea, gaits.GAITS[name])
    for k, t in enumerate((0.4, 5.3)):
        now = eel.instant(swimmer, moving(k), t)
        assert np.abs(now.n).max() > 1.0
        assert now.n_tail == pytest.approx(0.0, abs=1e-10 * np.abs(now.n).max())
        assert now.M_tail == pytest.approx(0.0, abs=1e-8)


@pytest.mark.parametrize("what", ["added", "added_turn"])
def test_printed_signs_of_the_added_mass_leave_a_wrench_at_the_tail(what):
    """Errata 1: with rho A - c_lm or rho I - c_am in (63), (64), against + in (54), (55), the tail is not free."""
    swimmer = eel.make_eel(BODY, water.Water(), gaits.spiral)
    good = eel.instant(swimmer, moving(), 5.3)
    # the second loop with the printed sign, from the same head acceleration
    own, grid = swimmer.own, swimmer.grid
    sign = {"added": (-1.0, 1.0), "added_turn": (1.0, -1.0)}[what]
    mass = own.area[..., None, None] * np.eye(3) + sign[0] * eel._along(good.R, own.added)
    turning = eel._along(good.R, own.inertia) + sign[1] * eel._along(good.R, eel._axial(own.added_turn))
    n, n_tail = water.integrate(grid, good.force - eel._rotate(mass, good.ddr), good.head_force)
    spin = np.cross(good.omega, eel._rotate(eel._along(good.R, own.inertia), good.omega))
    moment = good.moment - eel._rotate(turning, good.d_omega) - spin - np.cross(good.R[..., 0], n)
    _, M_tail = water.solve(grid, -lie.hat3(good.K), eel._rotate_back(good.R, moment), np.zeros(3))
    assert np.linalg.norm(n_tail) + np.linalg.norm(M_tail) > 1e-4


def test_first_integrals_in_vacuum_for_a_short_while():
    _first_integrals(1.2, 1e-11, 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["forward", "spiral"])
def test_first_integrals_in_vacuum(name):
    """Momentum and angular momentum of the prescribed shape stay within 1e-9 over 10 s."""
    _first_integrals(10.0, 1e-12, 1e-9, name)


def _first_integrals(duration, tolerance, allowed, name="spiral"):
    swimmer = eel.make_eel(BODY, water.VACUUM, gaits.GAITS[name])
    times = np.linspace(0.0, duration, 6)
    states = eel.swim(swimmer, times, tolerance=tolerance)
    sizes = []
    for t, y in zip(times, states, strict=True):
        now = eel.instant(swimmer, eel.unpack(y), t)
        sizes.append(np.abs(eel.momentum(swimmer, now)).max())
    assert max(sizes) < allowed
    assert np.abs(states[:, :3]).max() > 0.01  # it moved


def test_power_balance_in_water():
    """The kinetic energy gained is the work of the control torques plus that of the water (errata 4), to 1e-6."""
    swimmer = eel.make_eel(BODY, NOSE, gaits.spiral)
    x, w = np.polynomial.legendre.leggauss(40)
    start, stop = 0.2, 0.9
    times = start + 0.5 * (stop - start) * (1 + x)
    states = eel.swim(swimmer, [0.0, start, *times, stop], tolerance=1e-9)[1:]
    energy = [eel.kinetic_energy(swimmer, eel.instant(swimmer, eel.unpack(y), t))
              for y, t in ((states[0], start), (states[-1], stop))]  # fmt: skip
    powers = np.array([eel.powers(swimmer, eel.instant(swimmer, eel.unpack(y), t))
                       for y, t in zip(states[1:-1], times, strict=True)])  # fmt: skip
    work = 0.5 * (stop - start) * w @ powers
    assert energy[1] - energy[0] == pytest.approx(work.sum(), abs=1e-6)
    assert work[0] > 0.5 > -0.1 > work[1]  # the eel works, the water takes


def test_refinement_in_space():
    """In vacuum all fields are smooth: the head acceleration converges like a power series in the points per panel."""
    for sea, least, last in ((water.VACUUM, 1e3, 1e-9), (water.Water(), 2.0, 2e-3)):
        found = []
        for points in (5, 8, 16, 24):
            now = eel.instant(eel.make_eel(BODY, sea, gaits.spiral, points=points), moving(3), 1.3)
            found.append(np.concatenate([now.ddr_o, now.d_omega_o]))
        errors = np.abs(np.array(found[:-1]) - found[-1]).max(axis=1) / np.abs(found[-1]).max()
        assert errors[-1] < last
        assert errors[0] > least * errors[-1]  # drag with its |v| has kinks: it converges algebraically


def test_refinement_in_time():
    """Classical Runge-Kutta steps of the head converge at order four to what `swim` finds."""
    swimmer = eel.make_eel(BODY, water.VACUUM, gaits.spiral, points=6)
    truth = eel.swim(swimmer, [0.0, 0.5], tolerance=1e-11)[-1]
    errors = []
    for steps in (10, 20):
        h, y = 0.5 / steps, eel.AT_REST
        for k in range(steps):
            k1 = eel.rate(swimmer, k * h, y)
            k2 = eel.rate(swimmer, (k + 0.5) * h, y + 0.5 * h * k1)
            k3 = eel.rate(swimmer, (k + 0.5) * h, y + 0.5 * h * k2)
            k4 = eel.rate(swimmer, (k + 1) * h, y + h * k3)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        errors.append(np.abs(y - truth).max())
    assert errors[1] < 1e-5
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.5)


def test_all_gaits_swim():
    """Three seconds of each: the planar ones stay in their plane, the eel swims towards -E1, the spiral leaves it."""
    ends = {}
    for name, gait in gaits.GAITS.items():
        ends[name] = eel.swim(eel.make_eel(BODY, water.Water(), gait, points=8), [0.0, 2.0, 3.0], tolerance=1e-4)
    for name in ("forward", "turning", "submergence"):
        assert np.abs(ends[name][:, 2]).max() < 1e-12
    assert ends["submergence"] == pytest.approx(ends["forward"])  # it dives from 4 s on
    assert ends["forward"][2, 0] - ends["forward"][1, 0] == pytest.approx(-0.1406, abs=2e-3)
    assert ends["turning"][2, 1] > 0.2
    assert ends["spiral"][2, 2] < -0.1


@pytest.mark.slow
def test_the_examples_of_the_paper():
    """Ten and more seconds: straight ahead, a turn to the right, down and level again, a spiral down (figures 4 to 8)."""
    runs = {}
    for name, gait in gaits.GAITS.items():
        runs[name] = eel.swim(eel.make_eel(BODY, water.Water(), gait), np.arange(0.0, 17.0), tolerance=1e-5)
    x = runs["forward"][:, 0]
    assert x[10] == pytest.approx(-2.284, abs=0.01)
    assert np.all(np.diff(np.diff(x[2:])) < 0.0)  # still gaining speed
    headings = [eel.unpack(y).R[:, 0] for y in runs["turning"][3:]]
    assert np.all(np.diff(np.unwrap([np.arctan2(h[1], h[0]) for h in headings])) < -0.05)
    z = runs["submergence"][:, 2]
    assert z[4] == pytest.approx(0.0, abs=1e-5)  # the tolerance of the run
    assert z[16] < -0.2
    assert np.all(np.diff(runs["spiral"][2:, 2]) < 0.0)
