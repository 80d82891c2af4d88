"""Linear models against differences of what they linearise."""

import numpy as np
import pytest

import anguilla as ag
from anguilla.lie import exp3, log3, pose
from anguilla.model.user import move

SOFT = ag.Material(young=2e5, poisson=0.4, density=1100.0, damping=0.01)


def arm():
    robot = ag.Robot("arm", gravity=(1.0, 0.5, -9.0))
    rod = robot.add(ag.Rod(0.4, ag.Circle(0.02), SOFT, ag.kirchhoff(2), intervals=4), at=robot.ground)
    robot.add(ag.RigidBody(0.05, inertia=1e-4 * np.eye(3)), at=rod.tip, joint=ag.Revolute((0, 1, 0), stiffness=0.1))
    robot.actuate("pull", ag.Tendon(rod, ag.parallel(y=0.01)))
    robot.actuate("turn", ag.Tendon(rod, ag.helical(0.012, 0.3)))
    return robot


def top():
    """A body on a ball joint that carries a soft rod."""
    robot = ag.Robot("top", gravity=(0, 0, -9.81))
    body = robot.add(
        ag.RigidBody(1.0, inertia=np.diag([0.02, 0.03, 0.04]), com=(0, 0, -0.2)), at=robot.ground, joint=ag.Spherical()
    )
    rod = robot.add(ag.Rod(0.3, ag.Circle(0.02), SOFT, ag.kirchhoff(1), intervals=3), at=body.at((0.1, 0, 0)))
    robot.actuate("pull", ag.Tendon(rod, ag.parallel(z=0.01)))
    return robot


def difference(system, one, two):
    """dq with one = two (+) dq."""
    d = one - two
    for k in system.tree.ball[:, 0]:
        d[k : k + 3] = log3(exp3(two[k : k + 3]).T @ exp3(one[k : k + 3]))
    return d


def moving_state(robot, seed=2):
    system = ag.Model(robot)
    q, v = np.random.default_rng(seed).normal(size=(2, system.size)) / system.tree.scale
    return system, 0.2 * q, 1.5 * v


@pytest.mark.parametrize("make", [arm, top])
def test_continuous_model_is_the_slope_of_forward_dynamics(make):
    robot = make()
    system, q, v = moving_state(robot)
    inputs = {name: 2.0 for name in robot.actuators}
    model = ag.linearise(robot, (q, v), inputs=inputs)
    n, steps = system.size, (-2, -1, 1, 2)

    def rate(x, u=None):
        """Rate of (dq, dv) at a changed state, in the axes of the reference: d(dq)/dt = dexp^-1(dq) v - v0 turned."""
        there = move(system.tree, q, x[:n])
        a = ag.forward_dynamics(system, there, v + x[n:], inputs=u or inputs).a
        h = 1e-5
        ahead = move(system.tree, there, h * (v + x[n:]))
        back = move(system.tree, there, -h * (v + x[n:]))
        base = [move(system.tree, q, s * h * v) for s in (1, -1)]
        slope = (difference(system, ahead, base[0]) - difference(system, back, base[1])) / (2 * h)
        return np.concatenate([slope, a])

    columns = []
    for k in range(2 * n):
        h = 1e-3 / system.tree.scale[k % n]
        y = [rate(s * h * np.eye(2 * n)[k]) for s in steps]
        columns.append((8 * (y[2] - y[1]) - (y[3] - y[0])) / (12 * h))
    size = np.tile(system.tree.scale, 2)
    want = np.array(columns).T * np.outer(size, 1 / size)
    given = model.A * np.outer(size, 1 / size)
    assert np.max(np.abs(given - want)) < 1e-7 * np.max(np.abs(want))
    for k, name in enumerate(model.inputs):
        y = [rate(np.zeros(2 * n), inputs | {name: 2.0 + s}) for s in (-1, 1)]
        assert np.allclose(model.B[:, k], (y[1] - y[0]) / 2, rtol=1e-8, atol=1e-8)
    assert np.allclose(model.drift[n:], ag.forward_dynamics(system, q, v, inputs=inputs).a)
    assert model.states[0] == system.robot.coordinates()[0]


def test_held_inputs_give_the_exact_discrete_model():
    """Against many small steps of the continuous one (classical Runge-Kutta)."""
    model = ag.linearise(arm(), inputs={"pull": 3.0})
    dt, pieces = 0.01, 4000
    held = model.discrete(dt)
    x, u = np.random.default_rng(1).normal(size=len(model.A)), np.array([0.3, -0.2])
    want, h = x.copy(), dt / pieces
    f = lambda y: model.A @ y + model.B @ u
    for _ in range(pieces):
        k1 = f(want)
        k2 = f(want + h / 2 * k1)
        k3 = f(want + h / 2 * k2)
        want = want + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(want + h * k3))
    got = held.A @ x + held.B @ u
    assert np.max(np.abs(got - want)) < 1e-8 * np.max(np.abs(want))
    assert np.allclose(ag.linearise(arm(), inputs={"pull": 3.0}, dt=dt).A, held.A)


@pytest.mark.parametrize("method", [ag.Newmark(), ag.HHT(-0.1), ag.GeneralisedAlpha(0.6), ag.Midpoint()])
@pytest.mark.parametrize("make", [arm, top])
def test_linearised_step_equals_differences_of_the_step(make, method):
    """From a moving state, by changed starts; the integrator starts with the balanced accelerations."""
    robot = make()
    system, q, v = moving_state(robot)
    inputs, dt, n = {"pull": 2.0}, 0.004, system.size
    model = ag.linearise(robot, (q, v), inputs=inputs, dt=dt, method=method)
    flow = ag.linearise(robot, (q, v), inputs=inputs)
    blocks = len(model.A) // n
    options = {"duration": dt, "dt": dt, "inputs": inputs, "method": method, "tolerance": 1e-12}
    end = ag.simulate(robot, start=(q, v), **options)
    steps, size = (-2, -1, 1, 2), np.tile(system.tree.scale, 2)
    for k in range(2 * n):
        h = 1e-3 / size[k]
        e = np.eye(2 * n)[k]
        y = []
        for s in steps:
            start = move(system.tree, q, s * h * e[:n]), v + s * h * e[n:]
            run = ag.simulate(robot, start=start, **options)
            y.append(np.concatenate([difference(system, run.q[-1], end.q[-1]), run.v[-1]]))
        want = (8 * (y[2] - y[1]) - (y[3] - y[0])) / (12 * h)
        # the change of the start: of the state, and of the accelerations that balance it
        whole = np.concatenate([e, *[flow.A[n:] @ e] * (blocks - 2)])
        got = (model.A @ whole)[: 2 * n]
        assert np.max(np.abs((got - want) * size)) < 1e-6 * np.max(np.abs(want * size)), k
    assert np.allclose(model.drift[n : 2 * n], end.v[-1] - v, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("method", [ag.Newmark(), ag.GeneralisedAlpha(0.8)])
def test_linearised_steps_follow_inputs_near_an_equilibrium(method):
    robot = arm()
    at = ag.statics(robot, inputs={"pull": 3.0})
    model = ag.linearise(robot, at, dt=0.01, method=method, outputs=robot.part("rod").tip)
    eps, pulls = 1e-4, [1.0, -0.5, 0.2, 0.7, 0.0]
    x, out = np.zeros(len(model.A)), []
    runs = []
    for sign in (1, -1):
        wave = lambda t, s=sign: 3.0 + s * eps * (pulls[min(round(t / 0.01), 5) - 1] if t > 0.005 else 0.0)
        run = ag.simulate(
            robot, duration=0.05, dt=0.01, inputs={"pull": wave}, start=at, method=method, tolerance=1e-13, events=[]
        )
        runs.append(run.position(robot.part("rod").tip))
    for pull in pulls:
        x = model.A @ x + model.B[:, 0] * pull
        out.append(model.C @ x)
    want = (runs[0] - runs[1])[1:] / (2 * eps)
    assert np.max(np.abs(np.array(out) - want)) < 1e-6 * np.max(np.abs(want))
    assert model.outputs == ["rod.tip.x", "rod.tip.y", "rod.tip.z"]


def test_outputs_by_name_and_by_function():
    robot = arm()
    at = ag.statics(robot)
    tip = robot.part("rod").tip
    by_frame = ag.linearise(robot, at, outputs=[tip, "rod.twist[1]"])

    def place(q, v):
        states = np.zeros(1), q[None], v[None]
        here = ag.Equilibrium(robot, at.system, at.status, *states)
        return [*here.position(tip), q[1]]

    by_function = ag.linearise(robot, at, outputs=place)
    assert np.allclose(by_frame.C, by_function.C, rtol=1e-9, atol=1e-11)
    with pytest.raises(ag.DescriptionError, match="outputs must be frames"):
        ag.linearise(robot, at, outputs="nothing")
    with pytest.raises(ag.DescriptionError, match="step dt"):
        ag.linearise(robot, at, method="newmark")


# Constrained robots ---------------------------------------------------------------------------------------------------


def tied_arm():
    """A soft arm whose tip is pinned to the ground, with a tendon."""
    robot = ag.Robot("tied", gravity=(0, -9.81, 0))
    rod = robot.add(ag.Rod(0.4, ag.Circle(0.02), SOFT, ag.planar(4, stretch_modes=2), intervals=6), at=robot.ground)
    robot.close(robot.ground, rod.tip, joint=ag.Revolute((0, 0, 1)), pose=pose(p=(0.38, 0.02, 0)))
    robot.actuate("pull", ag.Tendon(rod, ag.parallel(y=0.01)))
    return robot


def test_a_closed_robot_moves_as_its_linear_model():
    robot = tied_arm()
    at = ag.statics(robot, inputs={"pull": 1.0})
    method, dt, eps = ag.Newmark(), 0.002, 1e-3
    model = ag.linearise(robot, at, dt=dt, method=method)
    assert len(model.local.place.T) == 6 - 2
    runs = []
    for sign in (1, -1):
        wave = lambda t, s=sign: 1.0 + s * eps * (t > dt / 2)
        with pytest.warns(ag.AnguillaWarning):
            run = ag.simulate(
                robot,
                duration=10 * dt,
                dt=dt,
                inputs={"pull": wave},
                start=at,
                method=method,
                tolerance=1e-13,
                events=[],
            )
        runs.append(run.q)
    want = (runs[0] - runs[1])[1:] / (2 * eps)
    x, got = np.zeros(len(model.A)), []
    for _ in range(10):
        x = model.A @ x + model.B[:, 0]
        got.append(model.local.place @ x[:4])
    size = at.system.tree.scale
    assert np.max(np.abs((np.array(got) - want) * size)) < 1e-6 * np.max(np.abs(want * size))


def test_a_moving_closed_robot_is_refused():
    robot = tied_arm()
    with pytest.raises(ag.DescriptionError, match="at rest in equilibrium"):
        ag.linearise(robot, (np.zeros(6), np.ones(6)))


def test_an_elastic_tendon_of_given_length_is_a_spring():
    """Its length as input: stiffness and input gain against differences of the equilibrium."""
    robot = ag.Robot("arm", gravity=(0, 0, -9.81))
    rod = robot.add(ag.Rod(0.4, ag.Circle(0.02), SOFT, ag.planar(3), intervals=4), at=robot.ground)
    robot.actuate("wire", ag.Tendon(rod, ag.parallel(y=0.01), by="length", compliance=1e-4))
    at = ag.statics(robot, inputs={"wire": 0.39})
    model = ag.linearise(robot, at)
    assert model.inputs == ["wire"]
    static = -np.linalg.solve(model.A, model.B)[:3, 0]
    h = 1e-4
    ends = [ag.statics(robot, inputs={"wire": 0.39 + s * h}, start=at, tolerance=1e-13).q for s in (-2, -1, 1, 2)]
    want = (8 * (ends[2] - ends[1]) - (ends[3] - ends[0])) / (12 * h)
    assert np.allclose(static, want, rtol=1e-7, atol=1e-7 * np.max(np.abs(want)))


def test_a_skate_keeps_its_place_across():
    """A knife edge: it swings along itself and about its normal, but its place across is neutral and has no rate."""
    robot = ag.Robot("skate", gravity=(0, 0, 0))
    joint = ag.Planar((0, 0, 1), along=(1, 0, 0), stiffness=(3.0, 5.0, 0.4))
    body = robot.add(ag.RigidBody(2.0, inertia=np.diag([0.1, 0.1, 0.2])), at=robot.ground, joint=joint)
    robot.constrain(ag.no_slip(body.frame, (0, 1, 0)))
    model = ag.linearise(robot, np.zeros(3))
    assert model.A.shape == (5, 5)
    found = np.sort_complex(model.eigenvalues)
    want = np.array([1j * np.sqrt(3.0 / 2.0), 1j * np.sqrt(0.4 / 0.2)])
    assert np.allclose(np.sort(found.imag), np.sort([*want.imag, *-want.imag, 0.0]), atol=1e-7)
    assert np.allclose(found.real, 0.0, atol=1e-7)


def test_a_turning_arm_is_stiffened_by_its_turning():
    """A rotor turned at a given rate, with a flap hinged at a distance: omega^2 = rate^2 m r d / J, in the plane."""
    rate, r, d, m, I = 7.0, 0.3, 0.2, 0.5, 0.01
    robot = ag.Robot("rotor", gravity=(0, 0, 0))
    turn = (lambda t: rate * t, lambda t: rate, lambda t: 0.0)
    hub = robot.add(
        ag.RigidBody(1.0, inertia=0.1 * np.eye(3)), at=robot.ground, joint=ag.Revolute((0, 0, 1), motion=turn)
    )
    flap = ag.RigidBody(m, inertia=I * np.eye(3), com=(d, 0, 0))
    robot.add(flap, at=hub.at((r, 0, 0)), joint=ag.Revolute((0, 0, 1)), name="flap")
    model = ag.linearise(robot, ([0.0, 0.0], [rate, 0.0]))
    assert model.states == ["flap.angle", "rate of flap.angle"]
    want = rate * np.sqrt(m * r * d / (I + m * d**2))
    assert np.max(model.eigenvalues.imag) == pytest.approx(want, rel=1e-7)
    assert ag.modes(robot, ([0.0, 0.0], [rate, 0.0])).frequencies[0] == pytest.approx(want / (2 * np.pi), rel=1e-7)
