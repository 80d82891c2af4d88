"""Moved points, rigid parts in motion, and steps one by one."""

import numpy as np
import pytest
from fem_bodies import bar

import anguilla as ag
from anguilla import fem
from anguilla.lie import exp3

SOFT = ag.Material(young=1e6, poisson=0.0, density=1000.0)


def pose(turn=(0, 0, 0), shift=(0, 0, 0)):
    g = np.eye(4)
    g[:3, :3], g[:3, 3] = exp3(np.array(turn, float)), shift
    return g


def gripped(**options):
    body = bar((12, 2, 2), material=SOFT, **options)
    body.move("grip", "tip")
    return body


def test_a_pulled_bar_answers_as_a_spring():
    body = gripped(law="st_venant")
    for pull in (0.004, -0.003):
        eq = fem.statics(body, moves={"grip": (pull, 0, 0)})
        assert eq.status.counters["iterations"] <= 5  # the others go along with the first step
        l = 1 + pull / 0.1
        force = 1e6 * 1e-4 * l * (l**2 - 1) / 2  # St Venant without Poisson's effect
        assert eq.reaction("grip")[0] == pytest.approx(force, rel=1e-7)
        assert eq.reaction()[0] == pytest.approx(-force, rel=1e-7)
        assert eq.position("tip")[0] == pytest.approx(0.1 + pull, abs=1e-12)


def test_a_body_held_by_moved_points_only_turns_as_a_whole():
    body = fem.SoftBody("free", fem.block((0.1, 0.02, 0.02), (5, 2, 2)), SOFT, gravity=(0, 0, 0))
    body.move("hand", "base")
    g = pose((0.4, -1.2, 2.0), (0.3, 0.1, -0.2))
    eq = fem.statics(body, moves={"hand": g})
    assert np.allclose(eq.x, eq.system.rest.x @ g[:3, :3].T + g[:3, 3], atol=1e-9)
    assert eq.stress().max() < 1.0


def test_forces_of_a_moved_set_are_the_slope_of_the_energy():
    body = gripped(element="quadratic", law="neo_hookean")
    g = lambda s: pose((0.1, 0.5, 0.0), (0.002, 0.001 + s, 0.02))
    at = lambda s: fem.statics(body, moves={"grip": g(s)}, tolerance=1e-12)
    h = 1e-4
    slope = (8 * (at(h).energy - at(-h).energy) - (at(2 * h).energy - at(-2 * h).energy)) / (12 * h)
    assert at(0).reaction("grip")[1] == pytest.approx(slope, rel=1e-6)


def test_a_shaken_base_is_gravity_for_those_who_ride_on_it():
    """A base that falls with acceleration a is the same as gravity -a in the frame of the base."""
    material = ag.Material(young=1e5, poisson=0.3, density=1000.0, damping=1e-3)
    body = fem.SoftBody("arm", fem.block((0.1, 0.02, 0.02), (8, 1, 1)), material, gravity=(0, 0, 0))
    body.move("base", "base", lambda t: (0.0, 0.0, 0.5 * 3.0 * t**2))
    body.effector("tip", (0.1, 0, 0))
    still = fem.SoftBody("arm", body.mesh, material, gravity=(0, 0, -3.0))
    still.fix("base")
    still.effector("tip", (0.1, 0, 0))
    options = {"duration": 0.2, "dt": 2e-3}
    shaken, heavy = fem.simulate(body, **options), fem.simulate(still, **options)
    rise = 1.5 * shaken.t**2
    relative = shaken.position("tip") - heavy.position("tip")
    assert np.abs(relative[:, 2] - rise).max() < 2e-4 * np.ptp(heavy.position("tip")[:, 2])


def test_a_motion_that_begins_elsewhere_is_refused_and_one_from_there_goes_on():
    body = gripped()
    body.moves["grip"].to = lambda t: (0.002 * np.cos(20 * t), 0.0, 0.0)
    with pytest.raises(ag.DescriptionError, match=r"0\.002 m from where the body starts"):
        fem.simulate(body, duration=0.01, dt=1e-3)
    run = fem.simulate(body, duration=0.02, dt=1e-3, start=fem.statics(body))
    assert run.position("tip")[:, 0] == pytest.approx(0.1 + 0.002 * np.cos(20 * run.t), abs=1e-9)
    assert run.v[-1, run.system.driven, 0] == pytest.approx(-0.04 * np.sin(0.4), rel=1e-3)


def test_steps_one_by_one_are_those_of_simulate():
    body = gripped()
    body.actuate("pull", fem.Tendon([(0.0, 0.0, 0.004), (0.06, 0.0, 0.004)]))
    to = lambda t: (0.0, 0.0, 0.01 * np.sin(30 * t) ** 2)
    run = fem.simulate(body, duration=0.02, dt=1e-3, inputs={"pull": 0.4}, moves={"grip": to})
    stepper = fem.Stepper(body, dt=1e-3, inputs={"pull": 0.4}, moves={"grip": to}, tolerance=1e-9)
    stepper.step(20)
    assert np.array_equal(stepper.x, run.x[-1]) and np.array_equal(stepper.v, run.v[-1])
    fem.statics(stepper.system)  # uses the same solver in between
    stepper.reset()
    for _ in range(20):
        stepper.step({"pull": 0.4})
    assert np.abs(stepper.x - run.x[-1]).max() < 1e-9
    assert stepper.t == pytest.approx(0.02)
    assert stepper.result().position("tip")[0] == pytest.approx(stepper.position("tip"))


def test_commanded_points_go_there_evenly():
    stepper = fem.Stepper(gripped(), dt=1e-3)
    stepper.step(moves={"grip": (0.0005, 0.0, 0.0)})
    assert stepper.position("tip")[0] == pytest.approx(0.1005)
    assert stepper.v[stepper.system.driven, 0] == pytest.approx(0.5)
    stepper.step(3)
    assert stepper.position("tip")[0] == pytest.approx(0.1005)
    assert stepper.v[stepper.system.driven] == pytest.approx(0.0)
    with pytest.raises(ag.DescriptionError, match="moves no set 'grab'"):
        stepper.step(moves={"grab": (0, 0, 0)})
    with pytest.raises(ag.DescriptionError, match="functions of t belong to the start"):
        stepper.step(moves={"grip": lambda t: (0, 0, 0)})


def pendulum(rigid, stiff=1.0):
    """A heavy block at the end of a soft strap, let go from the side."""
    mesh = fem.block((0.1, 0.02, 0.02), (10, 2, 2))
    far = np.flatnonzero(mesh.points[mesh.tets].mean(axis=1)[:, 0] > 0.05)
    mesh = fem.TetMesh(mesh.points, mesh.tets, mesh.nodes, mesh.surfaces, {"block": far})
    body = fem.SoftBody("pendulum", mesh, ag.Material(young=2e5, poisson=0.3, density=500.0))
    body.paint("block", ag.Material(young=2e5 * stiff, poisson=0.3, density=3000.0))
    body.fix("base")
    body.effector("tip", (0.1, 0, 0))
    if rigid:
        body.rigid("block", np.unique(mesh.tets[far]))
    return body


def test_a_rigid_part_moves_as_a_very_stiff_one():
    options = {"duration": 0.1, "dt": 1e-3}
    hard = fem.simulate(pendulum(True), **options)
    stiff = fem.simulate(pendulum(False, 1e4), method=ag.GeneralisedAlpha(0.5), **options)
    drop = np.ptp(hard.position("tip")[:, 2])
    assert drop > 0.02
    assert np.abs(hard.position("tip") - stiff.position("tip")).max() < 0.01 * drop
    # it is rigid: distances between its points stay
    nodes = hard.system.unknowns.parts[0]
    rest, now = hard.system.rest.x[nodes], hard.x[-1, nodes]
    far = lambda p: np.linalg.norm(p[:, None] - p[None], axis=2)
    assert np.abs(far(now) - far(rest)).max() < 1e-12


def test_rigid_parts_keep_the_energy_and_the_order():
    ends, drifts = [], []
    for dt in (1e-3, 5e-4, 2.5e-4):
        shaken = pendulum(True)
        shaken.gravity = np.zeros(3)
        wave = lambda t: (0.05 * np.sin(100 * t) ** 3, 0.3 * np.sin(40 * t) ** 3, -0.6 * np.sin(50 * t) ** 3)
        shaken.load(fem.PointForce((0.1, 0, 0), wave))
        ends.append(fem.simulate(shaken, duration=0.06, dt=dt).x[-1])
        run = fem.simulate(pendulum(True), duration=0.04, dt=dt)
        rest = run.system.rest.rotations
        total = run.kinetic_energy + [run.system.evaluate(fem.SoftState(x, rest), np.zeros(0))[0] for x in run.x]
        drifts.append(np.ptp(total) / run.kinetic_energy.max())
    assert drifts[-1] < 5e-3 and drifts[1] < 0.5 * drifts[0]
    order = np.log2(np.abs(ends[0] - ends[1]).max() / np.abs(ends[1] - ends[2]).max())
    assert order == pytest.approx(2.0, abs=0.2)


def test_a_point_mass_slows_a_beam_as_rayleigh_says():
    """A heavy mass at the tip of a light cantilever: omega^2 = 3 E I / (L^3 (m + 0.2357 of the mass of the beam))."""
    body = bar((20, 1, 1), material=ag.Material(young=1e6, poisson=0.0, density=1000.0), element="quadratic")
    body.load(fem.PointMass((0.1, 0, 0), 0.05))
    body.load(fem.PointForce((0.1, 0, 0), lambda t: (0.0, 0.0, 1e-3)))
    inertia, own = 0.01**4 / 12, 0.01
    stiff = 3 * 1e6 * inertia / 0.1**3
    period = 2 * np.pi * np.sqrt((0.05 + 33 / 140 * own) / stiff)
    run = fem.simulate(body, duration=period, dt=period / 40, tolerance=1e-7)
    z = run.position("tip")[:, 2]
    assert z[20] == pytest.approx(2e-3 / stiff, rel=0.02)  # twice the static deflection after half a period
    assert abs(z[-1]) < 0.02 * z[20]


def test_moves_are_kept_in_files(tmp_path):
    body = gripped()
    body.moves["grip"].to = pose((0.0, 0.2, 0.0), (0.001, 0.0, 0.01))
    eq = fem.statics(body)
    again = ag.load(eq.save(tmp_path / "grip.nc"))
    assert np.array_equal(again.x, eq.x)
    assert np.allclose(fem.statics(again.body).x, eq.x, atol=1e-10)
    body.moves["grip"].to = lambda t: (0.0, 0.0, t)
    run = fem.simulate(body, duration=0.004, dt=1e-3)
    moved = ag.load(run.save(tmp_path / "run.nc"))
    assert moved.body.moves["grip"].to(0.002) == pytest.approx((0.0, 0.0, 0.002))


def test_what_cannot_be_moved_is_refused():
    body = gripped()
    with pytest.raises(ag.DescriptionError, match="shares points with 'grip'"):
        body.move("other", "tip")
    with pytest.raises(ag.DescriptionError, match="fixed or moved"):
        body.move("base", "base")
    with pytest.raises(ag.DescriptionError, match=r"a displacement \(3,\)"):
        fem.statics(body, moves={"grip": (1.0, 2.0)})
    body.rigid("cap", "tip")
    with pytest.raises(ag.DescriptionError, match="fixed or moved"):
        fem.statics(body)
