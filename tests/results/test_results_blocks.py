"""Reading in blocks: numbers do not depend on the blocks, they are those of one state at a time, and memory is bounded."""

import dataclasses
import tracemalloc

import numpy as np
import pytest
from readings import RUBBER, assert_same, closed, crowded, given, readings

import anguilla as ag
from anguilla.interact.kernels.rubbing import UNKNOWN, keep_rubbing, set_friction
from anguilla.interact.kernels.table import DT
from anguilla.results import blocks
from anguilla.results.kinematics import as_motion
from anguilla.results.reactions import bend, evaluate, straighten
from anguilla.solve.steps.balance import _spared


@pytest.fixture(scope="module", params=[crowded, closed])
def run(request):
    return request.param()


@pytest.mark.parametrize("size", [1, 3000])
def test_the_size_of_the_blocks_does_not_matter(run, size, monkeypatch):
    monkeypatch.setattr(blocks, "BYTES", 10**9)
    whole = readings(run)
    monkeypatch.setattr(blocks, "BYTES", size)
    assert len(list(run.evaluations.blocks())) > 7
    assert_same(whole, readings(run))


def one_by_one(run):
    """Residual, wrenches of frame loads, tensions and motion of the nodes of each state, asked for one after the other."""
    model, t = run.system, run.t
    table, loads, found = model.loads(t, run.inputs), model.blank, []
    loads.frames.state[:], loads.cables.slip[:] = 0.0, UNKNOWN
    for k, state in enumerate(zip(*run.states[1:], strict=True)):
        dt = t[k] - t[max(k - 1, 0)]
        bent = k == 0 and bend(model, table.at(0), *state[:2], t[1])  # what slides at the start feels friction
        table.at(k).row[DT] = dt
        values = evaluate(model, table.loads, *state)
        if k == 0 and loads.cables.path.size:
            set_friction(model.tree, model.workspace, loads.cables, loads.pairs)
            values = evaluate(model, table.loads, *state)
        wrench, tension, node = table.loads.frames.wrench, table.loads.tension, model.workspace.node
        found.append((values, wrench.copy(), tension.copy(), node[:, : blocks.KEPT].copy()))
        keep_rubbing(loads.cables, 1.0)
        loads.frames.state[:, 0] += 0.5 * dt * (loads.frames.state[:, 1] + loads.frames.state[:, 2])
        loads.frames.state[:, 1] = loads.frames.state[:, 2]
        if bent:
            straighten(loads)
    return [np.array(column) for column in zip(*found, strict=True)]


def test_states_are_evaluated_as_one_by_one(run, monkeypatch):
    monkeypatch.setattr(blocks, "BYTES", 30_000)
    names = ("residual", "wrench", "tension", "node")
    found = list(run.evaluations.blocks())
    assert len(found) > 2
    together = {name: np.concatenate([getattr(block, name) for block in found]) for name in names}
    assert_same(dict(zip(names, one_by_one(run), strict=True)), together, 1e-13)


def test_the_integral_of_a_thruster_is_that_of_its_error():
    robot = ag.Robot()
    box = robot.add(ag.RigidBody.box((0.1, 0.1, 0.1), mass=1.0), at=robot.ground, joint=ag.Prismatic((1, 0, 0)))
    pushed = robot.load(ag.Thruster(box.frame, 0.0, 3.0, velocity=lambda t: (1.0 + t, 0.0, 0.0)))
    run = given(robot, 200, size=0.1)
    error = 1.0 + run.t - run.v[:, 0]
    integral = np.concatenate([[0.0], np.cumsum(0.005 * (error[1:] + error[:-1]))])
    np.testing.assert_allclose(run.exerted(pushed).force[:, 0], 3.0 * integral, atol=1e-12)


def test_the_wrench_in_water_is_the_integral_of_densities():
    """Of the density that the load itself tells in Python, over points of another rule, four times as many."""
    robot = ag.Robot(gravity=(0.0, 0.0, -3.0))
    section = ag.EllipticProfile(lambda X: 0.02 + 0.03 * X, lambda X: 0.03 - 0.02 * X)
    arm = robot.add(ag.Rod(0.5, section, RUBBER, ag.kirchhoff(2), intervals=6), at=robot.ground, joint=ag.Free())
    loads = [ag.Morison(arm, current=(0.1, 0.2, 0.0)), ag.Buoyancy(arm), ag.ResistiveForce(arm, normal=2.0)]
    loads += [ag.DistributedWrench(arm, force=lambda X, t: (X, t, 1.0), moment=(0.1, 0.2, 0.3), follower=True)]
    for load in loads:
        robot.load(load)
    run = given(robot, 5)
    x, w = np.polynomial.legendre.leggauss(8)
    ends = np.linspace(0.2, 0.5, 41)
    X = (ends[:-1, None] + 0.5 * np.diff(ends)[:, None] * (1 + x)).ravel()
    weights = (0.5 * np.diff(ends)[:, None] * w).ravel()
    motion = run.motion([arm.section(float(p)) for p in X], accelerations=True)
    frames, inertia = as_motion(motion), arm.rod.inertia(X)
    spin, turn = frames.own(frames.spin), frames.own(frames.spin_rate)
    moment = frames.turned(inertia[:, :3] * turn + np.cross(spin, inertia[:, :3] * spin))
    force = inertia[:, 3:4] * (frames.acceleration - np.array([0.0, 0.0, -3.0]))
    gravity = np.tile([0.0, 0.0, -3.0], (len(run.t), 1))
    for load in loads:
        density = load.wrench_density(X, run.t, frames, gravity)
        moment, force = moment - density[:, :, :3], force - density[:, :, 3:]
    pose = run.pose(arm.section(0.2))
    moment = moment + np.cross(frames.position - pose[:, None, :3, 3], force)
    total = np.concatenate([np.einsum("tji,m,tmj->ti", pose[:, :3, :3], weights, y) for y in (moment, force)], axis=1)
    np.testing.assert_allclose(run.wrench(arm, [0.2])[:, 0], -total, rtol=0, atol=1e-9 * np.abs(total).max())


def test_accelerations_balance_every_state(monkeypatch):
    robot = ag.Robot("arm")
    arm = robot.add(ag.Rod(0.5, ag.Circle(0.01), RUBBER, ag.kirchhoff(3), intervals=6), at=robot.ground)
    bob = robot.add(ag.RigidBody.sphere(0.02, mass=0.05), at=arm.tip, joint=ag.Spherical())
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.008)))
    inputs = {"pull": lambda t: 3.0 * np.sin(9.0 * t) ** 2}
    run = ag.simulate(robot, duration=0.3, dt=0.002, inputs=inputs)
    left = [
        run.system.residual(q, v, a, t=t, inputs=inputs) for t, q, v, a in zip(run.t, run.q, run.v, run.a, strict=True)
    ]
    alone = [run.system.residual(q, v, t=t, inputs=inputs) for t, q, v in zip(run.t, run.q, run.v, strict=True)]
    assert np.abs(left).max() < 1e-11 * np.abs(alone).max()
    monkeypatch.setattr(blocks, "BYTES", 1)
    alone = dataclasses.replace(run, _integrated=None)  # without guesses, state by state
    assert_same({"a": run.a}, {"a": alone.a}, 1e-10)
    assert run.twist(bob.frame).shape == (151, 6)


def test_accelerations_with_many_tendons_and_muscles():
    """They balance each state, though forces along the rods are left out where the mass alone is asked for."""
    robot = ag.Robot("arm")
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), RUBBER, ag.kirchhoff(3), intervals=4), at=robot.ground)
    angles = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
    for k, (y, z) in enumerate(zip(0.008 * np.cos(angles), 0.008 * np.sin(angles), strict=True)):
        robot.actuate(f"t{k}", ag.Tendon(arm, ag.parallel(y=float(y), z=float(z))))
    robot.load(ag.Muscle(arm, moment=lambda X, t: (0.0, 0.01 * np.sin(9.0 * t), 0.0)))
    assert _spared(ag.Model(robot), ag.Model(robot).blank)[2]
    pulls = {f"t{k}": (lambda t, k=k: 1.0 + np.sin((5.0 + k) * t)) for k in range(12)}
    run = ag.simulate(robot, duration=0.3, dt=2e-3, inputs=pulls)
    alone = dataclasses.replace(run, _integrated=None).a  # without guesses
    for k in range(0, len(run.t), 10):
        inputs = {name: pull(run.t[k]) for name, pull in pulls.items()}
        exact = ag.forward_dynamics(robot, run.q[k], run.v[k], t=run.t[k], inputs=inputs).a
        size = np.abs(exact * run.system.tree.weight).max()
        for found in (run.a, alone):
            assert np.abs((found[k] - exact) * run.system.tree.weight).max() < 1e-9 * size


@pytest.mark.parametrize("every", [1, 4])
def test_functions_of_inputs_are_asked_at_each_step_only(every, tmp_path):
    asked = []

    def pull(t):
        asked.append(t)
        return float(np.sin(20.0 * t))

    robot = ag.Robot("arm")
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.01), RUBBER, ag.kirchhoff(2), intervals=4), at=robot.ground)
    robot.actuate("still", ag.Tendon(arm, ag.parallel(y=0.008)))
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=-0.008)))
    with pytest.warns(ag.AnguillaWarning, match="slack"):
        run = ag.simulate(robot, duration=0.4, dt=0.005, every=every, inputs={"still": 0.2, "pull": pull})
    count = len(asked)
    run[2:9].save(tmp_path / "part.nc")
    saved = ag.load(run.save(tmp_path / "run.nc"))
    assert len(asked) == count
    whole = np.sin(20.0 * run.t)
    for some, pulled in ((run, whole), (run[2:9], whole[2:9]), (saved, whole)):
        np.testing.assert_array_equal([some.inputs_at_states["pull"](t) for t in some.t], pulled)
        np.testing.assert_array_equal(some.tension("pull"), np.maximum(pulled, 0.0))
        np.testing.assert_array_equal(some.tension("still"), 0.2)


def test_tendons_give_the_power_that_their_lines_take():
    robot = ag.Robot("arm")
    rods = [robot.add(ag.Rod(0.2, ag.Circle(0.01), RUBBER, ag.kirchhoff(2), intervals=3), at=robot.ground)]
    rods.append(robot.add(ag.Rod(0.2, ag.Circle(0.01), RUBBER, ag.kirchhoff(2), intervals=3), at=rods[0].tip))
    box = robot.add(ag.RigidBody.box((0.04, 0.04, 0.04), mass=0.1), at=rods[1].tip)
    robot.actuate("one", ag.Tendon(rods, ag.parallel(y=0.008)))
    robot.actuate("two", ag.Tendon([rods[0], box.at((0.03, 0.01, 0.0))], ag.parallel(z=0.008)))
    robot.actuate("air", ag.Chamber(rods[1], ag.parallel(y=-0.005), area=1e-5))
    run = given(robot, 40, {"one": 2.0, "two": lambda t: 1.0 + t, "air": 1e4})
    inputs = np.stack([np.full(40, 2.0), 1.0 + run.t, np.full(40, 1e4)], axis=1)
    power = np.einsum("tn,tnk,tk->t", run.v, run.actuation(), inputs)
    np.testing.assert_allclose(ag.powers(run).motors, power, atol=1e-3 * np.abs(power).max())  # lines at two points
    for name in ("one", "two"):  # the gradient of a length is its rate
        rate = np.einsum("tn,tn->t", run.v, -run.actuation()[:, :, ["one", "two"].index(name)])
        length = run.length(name)
        np.testing.assert_allclose(rate[1:-1], (length[2:] - length[:-2]) / 0.02, atol=0.01 * np.abs(rate).max())


def test_the_centre_of_mass_carries_weight_and_momentum(run):
    gravity, mass = np.asarray(run.robot.gravity), run.mass
    energy = run.energy["gravitational"]
    np.testing.assert_allclose(-mass * run.center_of_mass @ gravity, energy, atol=1e-12 * np.abs(energy).max())
    moved = (run.center_of_mass[2:] - run.center_of_mass[:-2]) / 0.02
    np.testing.assert_allclose(mass * moved, run.momentum[1:-1], atol=0.01 * np.abs(run.momentum).max())


def test_the_centre_of_mass_of_an_equilibrium():
    robot = ag.Robot(gravity=(0, 0, 0))
    arm = robot.add(ag.Rod(0.4, ag.Circle(0.01), RUBBER, ag.kirchhoff(2)), at=robot.ground)
    robot.add(ag.RigidBody.sphere(0.02, mass=arm.rod.mass), at=arm.tip)
    eq = ag.statics(robot)
    np.testing.assert_allclose(eq.center_of_mass, [0.3, 0.0, 0.0], atol=1e-12)
    assert eq.mass == pytest.approx(2.0 * arm.rod.mass, rel=1e-12)


def test_memory_stays_bounded(monkeypatch):
    """Reading a long motion takes no more room than twice what is read, and some blocks."""
    monkeypatch.setattr(blocks, "BYTES", 50_000)
    robot = ag.Robot("long", gravity=(0.0, 0.0, -9.81))
    arm = robot.add(ag.Rod(0.3, ag.Circle(0.02), RUBBER, ag.kirchhoff(2), intervals=6), at=robot.ground)
    box = robot.add(ag.RigidBody.box((0.04, 0.06, 0.05), mass=0.1), at=arm.tip, name="box")
    water = robot.load(ag.Morison(arm))
    floor = robot.load(ag.Contact(box, ag.HalfSpace((0, 0, 1), 0.0), 200.0, damping=1.0))
    robot.load(ag.DistributedWrench(arm, force=(0.1, 0.2, 0.3), follower=True))
    robot.actuate("pull", ag.Tendon([arm, box.at((0.02, 0.01, 0.0))], ag.parallel(y=0.01)))
    run = given(robot, 1000, {"pull": 1.0})
    reading = {
        "wrench": lambda: run.wrench(arm, [0.1]),
        "centerline": lambda: run.centerline(arm, 20),
        "exerted": lambda: run.exerted(water),
        "depth": lambda: run.depth(floor),
        "powers": lambda: tuple(vars(ag.powers(run)).values()),
        "length": lambda: run.length("pull"),
        "tension": lambda: run.tension("pull"),
        "energy": lambda: tuple(run.energy.values()),
        "twist": lambda: run.twist(box.frame),
        "jacobian": lambda: run.jacobian(box.frame),
    }
    for name, read in reading.items():
        read()  # what is compiled stays
        tracemalloc.start()
        found = read()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        size = sum(x.nbytes for x in (found if isinstance(found, tuple) else (found,)))
        assert peak < 2.2 * size + 6 * run.q.nbytes + 1e6, (name, peak, size)
