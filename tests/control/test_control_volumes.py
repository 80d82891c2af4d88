"""Controllers hold and move soft volumes through the same loop as robots of rods."""

import numpy as np
import pytest

import anguilla as ag
from anguilla import control, fem, sensors

PERIOD = 0.008


def finger(damping=5e-4, young=2e5, noise=2e-6):
    """A silicone finger with a chamber, which bends it down; a camera sees its tip."""
    silicone = ag.Material(young=young, poisson=0.45, density=1070, damping=damping)
    mesh = fem.finger(size=(0.1, 0.02, 0.02), wall=2e-3, offset=4e-3, cells=(4, 2, 2))
    body = fem.SoftBody("finger", mesh, silicone)
    body.fix("base")
    body.actuate("air", fem.Chamber("chamber", pressure=(0, 4e4)))
    body.effector("tip", (0.1, 0, -0.01))
    body.sense("tip", sensors.Position("tip", noise=noise))
    return body


@pytest.fixture(scope="module")
def bent():
    return fem.statics(finger(), inputs={"air": 1.2e4})


def test_lqg_damps_a_finger_as_its_linear_model_says(bent):
    """The slowest mode that the air can reach settles at the rate of its closed-loop eigenvalue, 17 times as fast."""
    off = fem.statics(bent.system, inputs={"air": 1.15e4}, start=bent)
    hold = control.LQG(bent, period=PERIOD, input_weight=2e-11, disturbance=100.0, modes=6)
    stepper = fem.Stepper(bent.system, dt=PERIOD / 4, start=off, inputs={"air": 1.2e4}, history=True)
    loop = control.run(stepper, hold, duration=0.64, period=PERIOD)
    nodes = zip(loop.run.x[::4], loop.run.v[::4], strict=True)
    state = np.array([hold.change(np.r_[x.ravel(), v.ravel()]) for x, v in nodes])
    m = int(np.argmax(np.abs(state[0, :6])))  # the mode that the start excites
    pulsation = 2 * np.pi * hold.model.modes.frequencies[m]
    size = 0.5 * np.log((pulsation * state[:, m]) ** 2 + state[:, 6 + m] ** 2)
    some = slice(20, 80)
    rate = np.polyfit(PERIOD * np.arange(81)[some], size[some], 1)[0]
    poles = np.log(hold.poles.astype(complex)) / PERIOD
    near = poles[np.abs(poles.imag - pulsation) < 0.1 * pulsation]
    pole = near[np.argmin(near.real)]  # the air does not reach the sideways mode beside it
    free = -hold.model.modes.damping[m] * pulsation
    assert rate == pytest.approx(pole.real, rel=0.1) and rate < 15 * free
    # and the whole motion is that of the linear loop, simulated by itself
    plant, x, worst = hold.plant, state[0], 0.0
    hold.reset()
    for k in range(81):
        worst = max(worst, abs(x[m] - state[k, m]))
        told = hold.update(plant.zero + plant.C @ x + plant.D @ hold._acting, 0.0)["air"]
        x = plant.A @ x + plant.B[:, 0] * (told - plant.rest[0])
    assert worst < 0.05 * abs(state[0, m])


def test_lqr_reads_the_nodes(bent):
    hold = control.LQR(bent, period=PERIOD, input_weight=2e-11, modes=6)
    assert np.allclose(hold.change(np.r_[bent.x.ravel(), 0 * bent.x.ravel()]), 0.0, atol=1e-15)
    shape = bent.x + 1e-3 * hold.model.modes.shapes[1]
    assert np.allclose(hold.change(np.r_[shape.ravel(), 0 * shape.ravel()]), 1e-3 * np.eye(12)[1], atol=1e-9)
    stepper = fem.Stepper(bent.system, dt=PERIOD / 4, start=bent, inputs={"air": 1.2e4}, history=True)
    loop = control.run(stepper, hold, duration=4 * PERIOD, period=PERIOD, observe=control.full_state)
    assert np.allclose(loop.commands, 1.2e4, rtol=1e-6)


def test_pid_brings_the_tip_to_its_place(bent):
    gain = control.steady_gain(bent, "tip")
    more = fem.statics(bent.system, inputs={"air": 1.21e4}, start=bent)
    assert np.allclose(gain[:, 0] * 100.0, more.position("tip") - bent.position("tip"), rtol=0.02, atol=1e-8)
    goal = fem.statics(bent.system, inputs={"air": 1.25e4}, start=bent).position("tip")[2]
    law = control.PID(
        bent.body, goal, kp=0.1, ki=12.0, period=PERIOD, measure=[2], allocation=1.0 / gain[2:3], feed=1.2e4, lag=0.05
    )
    stepper = fem.Stepper(
        bent.system, dt=PERIOD / 2, start=bent, inputs={"air": 1.2e4}, history=True, rayleigh=fem.Rayleigh(8.0)
    )
    loop = control.run(stepper, law, duration=0.8, period=PERIOD)
    assert loop.readings.shape == (100, 3) and loop.labels == ["tip.x", "tip.y", "tip.z"] and loop.inputs == ["air"]
    assert loop.command("air")[-1] == pytest.approx(1.25e4, rel=0.01)
    assert abs(np.mean(loop.readings[-20:, 2]) - goal) < 0.05 * abs(loop.readings[0, 2] - goal)
    assert float(loop.run.inputs["air"](0.8)) == loop.command("air")[-1] and len(loop.seconds) == 100


def test_limits_of_chambers_and_names_are_kept(bent):
    low, high = control.input_limits(bent.body, {"air": (1e3, 9e4)})
    assert low == [1e3] and high == [4e4]
    with pytest.raises(ag.DescriptionError, match="there is no input 'water'; there are: air"):
        control.input_limits(bent.body, {"water": (0, 1)})
    with pytest.raises(ag.DescriptionError, match="there is no effector 'hip'; there are: tip"):
        control.steady_gain(bent, "hip")


@pytest.fixture(scope="module")
def reduced():
    body = finger(damping=2e-3)
    return fem.reduce(body, inputs={"air": (0, 2.5e4)}, samples=10, held_out=3, coordinates=24, tolerance=1e-4, modes=3)


def test_a_reduced_volume_vibrates_as_the_whole_one(reduced):
    """With modes among what it learns from; without, its second mode is twice as fast as it should be."""
    from scipy.linalg import eigh

    from anguilla.fem.reduced_motion import ReducedMotion

    whole = fem.modes(fem.statics(reduced.system, inputs={"air": 1.2e4}), count=2).frequencies
    reduced.statics({"air": 1.2e4})
    motion = ReducedMotion(reduced)
    mine = np.sqrt(eigh(reduced.evaluate()[2], motion.mass, eigvals_only=True)[:2]) / (2 * np.pi)
    assert np.allclose(mine, whole, rtol=0.05)
    # the linear model against differences of the forces
    q, v, u = reduced.q.copy(), 0.01 * np.ones_like(reduced.q), reduced.efforts.copy()
    A, B, drift = motion.linear(q, v, u)
    h, r = 1e-7, len(q)
    for k in (0, r - 1):
        ahead = motion.linear(q + h * np.eye(r)[k], v, u)[2]
        assert np.allclose((ahead - drift) / h, A[:, k], rtol=1e-4, atol=1e-4 * np.abs(A[:, k]).max())
    assert np.allclose((motion.linear(q, v, u + 1.0)[2] - drift), B[:, 0], rtol=1e-5, atol=1e-9 * np.abs(B).max())


def test_mpc_through_a_reduced_volume(reduced):
    """The whole finger goes where it shall, at once and without swinging; the same pressure at once swings."""
    system = fem.SoftSystem(reduced.system.body)
    start, goal = (fem.statics(system, inputs={"air": p}) for p in (8e3, 1.2e4))
    law = control.SensorMPC(
        reduced, "tip", goal.position("tip"), period=0.01, disturbance=200.0, horizon=20, moves=6,
        goal_weight=[0, 0, 1e6], change_weight=1e-7, inputs={"air": 8e3}, trust=0.05,
    )  # fmt: skip
    off = []
    for controller in (law, control.FeedForward({"air": 1.2e4})):
        stepper = fem.Stepper(system, dt=0.0025, start=start, inputs={"air": 8e3}, history=True)
        loop = control.run(stepper, controller, duration=0.4, period=0.01)
        off.append(loop.run.position("tip")[:, 2] - goal.position("tip")[2])
    assert np.abs(off[0][100:]).max() < 0.05 * abs(off[0][0])
    assert np.abs(off[1][100:]).max() > 0.4 * abs(off[1][0])
    assert loop.commands.shape == (40, 1)
    with pytest.raises(ag.DescriptionError, match="sensor must be the name of a Position; got 'hip'; there are: tip"):
        control.SensorMPC(reduced, "hip", [0, 0, 0], period=0.01, disturbance=1.0)


def test_mpc_about_an_equilibrium_of_a_volume(bent):
    goal = fem.statics(bent.system, inputs={"air": 1.25e4}, start=bent).position("tip")
    law = control.SensorMPC(
        bent, "tip", goal, period=PERIOD, disturbance=100.0, goal_weight=[0, 0, 1e7], change_weight=1e-6, modes=6,
        horizon=25, moves=8, trust=0.05,
    )  # fmt: skip
    stepper = fem.Stepper(bent.system, dt=PERIOD / 2, start=bent, inputs={"air": 1.2e4}, history=True)
    loop = control.run(stepper, law, duration=0.4, period=PERIOD)
    away = np.abs(loop.run.position("tip")[:, 2] - goal[2])
    assert away[60:].max() < 0.12 * away[0]


def test_steering_by_inverse_kinematics_and_as_a_spring(bent):
    """The controller's model is softer than the finger; what is measured makes up for it."""
    path = lambda t: bent.position("tip") + np.array([0, 0, -4e-4 * min(t / 0.3, 1.0)])
    own = fem.SoftModel(finger(young=1.6e5))
    own.efforts = np.array([1.2e4])
    own.relax()
    stepper = fem.Stepper(
        bent.system, dt=0.01, start=bent, inputs={"air": 1.2e4}, history=True, rayleigh=fem.Rayleigh(15.0)
    )
    loop = control.run(stepper, control.Steer(own, path, gain=0.2), duration=0.8, period=0.02)
    assert abs(loop.readings[-1, 2] - path(1.0)[2]) < 0.1 * 4e-4
    truth = fem.SoftModel(bent.system)
    truth.state, truth.efforts = bent.state, bent.efforts.copy()
    give = truth.project().W("e", "e")[:, 2]
    stiff = np.diag([1e6, 1e6, 2.0 / give[2]])
    spring = control.Steer(truth, bent.position("tip"), stiffness=stiff, gain=0.3)
    assert spring.update(bent.position("tip"), 0.0)["air"] == pytest.approx(1.2e4, rel=1e-3)
    pushed = bent.position("tip") + 2e-4 / give[2] * give  # by a force upwards: a stiffer spring wants it half as far
    more = spring.update(pushed, 0.0)["air"] - 1.2e4
    gain = control.steady_gain(bent, "tip")[:, 0]
    assert more > 0 and gain[2] * more == pytest.approx(-0.3 * 1e-4, rel=0.3)
    with pytest.raises(ag.DescriptionError, match="there is no effector 'hip'"):
        control.Steer(truth, [0, 0, 0], effector="hip")


def test_sensors_of_a_volume(bent, tmp_path):
    body = finger(noise=0.0)
    body.actuate("pull", fem.Tendon([(0.0, 0, 0.008), (0.05, 0, 0.008), (0.1, 0, 0.008)]))
    body.sense("string", fem.String([(0.0, 0, -0.008), (0.1, 0, -0.008)]))
    body.sense("speed", sensors.Velocity("tip"))
    body.sense("line", sensors.LineLength("pull"))
    body.sense("air_gauge", sensors.Effort("air", resolution=10.0))
    stepper = fem.Stepper(body, dt=0.002, history=True, inputs={"air": 0.0, "pull": 0.5})
    stepper.step(5, {"air": 1003.0})
    run = stepper.trajectory()
    assert stepper.reading_labels == ["string.length", "tip.x", "tip.y", "tip.z", "speed.vx", "speed.vy", "speed.vz",
                                      "line.length", "air_gauge.effort"]  # fmt: skip
    assert stepper.reading_units[-2:] == ["m", "Pa"]
    seen = stepper.read()
    assert seen[0] == stepper.readings()["string"] and np.array_equal(seen[1:4], run.position("tip")[-1])
    stepper.step()  # the trapezoidal rule: the mean of two velocities is that of the step
    both = seen[4:7] + stepper.read("speed")
    assert np.allclose(both, (stepper.position("tip") - seen[1:4]) / 0.001, rtol=1e-6, atol=1e-9)
    assert seen[7] == pytest.approx(0.1, rel=0.05) and seen[8] == 1000.0 and len(stepper.read("line")) == 1
    assert len(run.x) == 6 and run.inputs["pull"] == 0.5 and run.inputs["air"](0.01) == 1003.0
    run.save(tmp_path / "run.nc")
    again = ag.load(tmp_path / "run.nc").body
    assert list(again.instruments) == ["tip", "speed", "line", "air_gauge"]
    assert again.instruments["air_gauge"].resolution == 10
    for bad, told in (
        (sensors.Position("hip"), "there is no effector 'hip'"), (sensors.Effort("oil"), "there is no actuator 'oil'"),
        (sensors.LineLength("air"), "is no tendon"), (sensors.Pose("tip"), "has no orientation"),
        (sensors.StateSensor(3), "must be a fem.String, or Position"),
    ):  # fmt: skip
        with pytest.raises(ag.DescriptionError, match=told):
            body.sense("bad", bad)
    with pytest.raises(ag.DescriptionError, match="keeps no history"):
        fem.Stepper(body, dt=0.01).trajectory()


def test_linear_models_of_sensors_against_differences(bent):
    body = finger()
    body.sense("string", fem.String([(0.0, 0, -0.008), (0.1, 0, -0.008)]))
    body.sense("speed", sensors.Velocity("tip"))
    eq = fem.statics(body, inputs={"air": 1.2e4})
    model = fem.linearise(eq, count=4, sensors=True)
    more = fem.statics(eq.system, inputs={"air": 1.2e4 + 20.0}, start=eq)
    change = (
        np.r_[more.length("string") - eq.length("string"), more.position("tip") - eq.position("tip"), 0, 0, 0] / 20.0
    )
    assert model.outputs[:2] == ["string.length", "tip.x"] and np.allclose(
        model.gain[:, 0], change, rtol=0.01, atol=1e-12
    )
    with pytest.raises(ag.DescriptionError, match="sensors=True"):
        control.LQG(fem.linearise(eq, count=4), period=0.01, disturbance=1.0)
    with pytest.raises(ag.DescriptionError, match="'string' has none"):
        control.LQG(model, period=0.01, disturbance=1.0)
