"""Inputs made by `Robot.input`, their drives, and sensors: against functions of time, closed forms and results."""

import numpy as np
import pytest

import anguilla as ag
from anguilla import sensors

RUBBER = ag.Material(young=1e6, density=1000, damping=0.01)


def swing(t):
    return 0.2 * np.sin(5 * t)


def push(t):
    return 0.1 * np.cos(4 * t)


def slide(t):
    return 0.05 * np.sin(3 * t) ** 3


LAWS = {"motor": swing, "push": push, "slide": slide}


def pole(with_inputs):
    """A soft pole on a cart: its motor, a force at its tip and the motion of the cart are inputs, or functions of time."""
    robot = ag.Robot("pole")
    if with_inputs:
        motor, force, motion = (
            robot.input("motor", "N m"),
            robot.input("push", "N", along=(0, 0, 1)),
            robot.input("slide"),
        )
    else:
        motor, force, motion = swing, lambda t: (0.0, 0.0, push(t)), slide
    cart = robot.add(
        ag.RigidBody(1.0, (1e-3,) * 3), at=robot.ground, joint=ag.Prismatic("x", motion=motion), name="cart"
    )
    hinge = ag.Revolute("y", effort=motor, stiffness=0.5, damping=0.02)
    rod = robot.add(ag.Rod(0.5, ag.Circle(0.01), RUBBER, ag.kirchhoff(2)), at=cart.frame, joint=hinge, name="pole")
    robot.load(ag.Wrench(rod.tip, force=force))
    robot.actuate("line", ag.Tendon(rod, ag.parallel(y=0.008)))
    return robot, rod


def test_an_input_that_is_a_function_of_time_acts_like_one():
    (robot, rod), (other, twin) = pole(True), pole(False)
    run = ag.simulate(robot, duration=0.5, dt=0.005, inputs=LAWS | {"line": 1.0})
    same = ag.simulate(other, duration=0.5, dt=0.005, inputs={"line": 1.0})
    assert np.array_equal(run.q, same.q)
    assert np.array_equal(run.wrench(rod), same.wrench(twin))
    powers, expected = ag.powers(run), ag.powers(same)
    assert np.array_equal(powers.motors, expected.motors)
    assert np.max(np.abs(powers.imbalance)) < 1e-5 * np.max(np.abs(powers.motors))


def test_forces_of_a_stepper_are_those_of_simulate():
    robot, _ = pole(True)
    laws = {"motor": swing, "push": push}
    run = ag.simulate(robot, duration=0.25, dt=0.005, inputs=laws | {"line": 1.0}, events=[])
    stepper = ag.Stepper(robot, dt=0.005, inputs={"line": 1.0, "motor": swing(0), "push": push(0)}, history=True)
    for k in range(50):
        stepper.step({name: law((k + 1) * 0.005) for name, law in laws.items()})
    assert np.allclose(stepper.q, run.q[-1], rtol=0, atol=1e-12)
    motion = stepper.trajectory()
    assert np.allclose(motion.q, run.q, rtol=0, atol=1e-12)
    assert np.allclose(ag.powers(motion).motors, ag.powers(run).motors, rtol=0, atol=1e-9)


def test_a_motion_commanded_step_by_step_tends_to_the_prescribed_one():
    """Rates are backward differences of the commands: first order."""
    robot, _ = pole(True)
    errors = []
    for dt in (0.004, 0.002):
        run = ag.simulate(robot, duration=0.4, dt=dt, inputs={"slide": slide})
        stepper = ag.Stepper(robot, dt=dt)
        for k in range(round(0.4 / dt)):
            stepper.step({"slide": slide((k + 1) * dt)})
        errors.append(np.max(np.abs(stepper.q - run.q[-1])))
    assert 1.6 < errors[0] / errors[1] < 2.6
    assert errors[1] < 0.02


def test_statics_takes_inputs():
    robot, rod = pole(True)
    eq = ag.statics(robot, inputs={"motor": 0.05, "slide": 0.1})
    other, twin = pole(False)
    other.parts[0].joint.motion, other.parts[1].joint.effort = 0.1, 0.05
    other.loads[0].force = (0, 0, 0)
    assert np.allclose(eq.position(rod.tip), ag.statics(other).position(twin.tip), rtol=0, atol=1e-12)


def test_an_input_has_no_value_outside_of_a_computation():
    robot = ag.Robot()
    motor = robot.input("motor")
    with pytest.raises(ag.DescriptionError, match="'motor' has no value outside"):
        motor(0.0)


def test_names_are_told():
    robot, _ = pole(True)
    with pytest.raises(ag.DescriptionError, match="has no input 'x'; it has: line, motor, push, slide"):
        ag.simulate(robot, duration=0.1, dt=0.01, inputs={"x": 1.0})
    with pytest.raises(ag.DescriptionError, match="already has an input 'motor'"):
        robot.input("motor")
    assert robot.inputs == {"line": "N", "motor": "N m", "push": "N", "slide": ""}


@pytest.mark.parametrize(
    ("unit", "si"), [("deg", "0.0174533 rad"), ("kN/m", "1000 N/m"), ("mm^2", "1e-06 m^2"), ("rpm", "0.10472 rad/s")]
)
def test_a_unit_that_is_not_si_is_refused(unit, si):
    with pytest.raises(ag.DescriptionError, match="input 'motor' has the unit") as error:
        ag.Robot().input("motor", unit)
    assert f"is {si})" in str(error.value)


@pytest.mark.parametrize("unit", ["", "rad", "N m", "m/s^2", "kg/(m s)", "Hz", "counts", "%", "mm/mm"])
def test_units_of_si_and_of_ones_own_are_labels(unit):
    assert ag.Robot().input("motor", unit).unit == unit


def test_a_load_that_depends_on_time_beside_an_input_is_seen_by_a_stepper():
    """What is not an input must not be taken for constant."""
    robot, rod = pole(True)
    robot.load(ag.Wrench(rod.tip, force=lambda t: (0.0, 0.05, 0.0) if 0.1 < t < 0.2 else (0.0, 0.0, 0.0)))
    run = ag.simulate(robot, duration=0.3, dt=0.005, inputs={"motor": 0.1}, events=[])
    stepper = ag.Stepper(robot, dt=0.005, inputs={"motor": 0.1})
    stepper.step(60)
    assert np.allclose(stepper.q, run.q[-1], rtol=0, atol=1e-12)
    assert abs(run.position(rod.tip)[-1, 1]) > 1e-3


# Drives ---------------------------------------------------------------------------------------------------------------


def followed(drive, commands, dt=0.01, start=0.0):
    """The input of a motor, step by step."""
    robot = ag.Robot(gravity=(0, 0, 0))
    motor = robot.input("motor", "N m", drive=drive)
    robot.add(ag.RigidBody(1.0, (1.0,) * 3), at=robot.ground, joint=ag.Revolute("z", effort=motor))
    stepper = ag.Stepper(robot, dt=dt, inputs={"motor": start})
    out = []
    for command in commands:
        stepper.step({"motor": command})
        out.append(stepper.inputs["motor"])
    return np.array(out), stepper


def test_drives():
    assert np.allclose(followed(ag.Drive(low=-1, high=2), [5, -5, 0.5])[0], [2, -1, 0.5])
    assert np.allclose(followed(ag.Drive(rate=10), [1, 1, 1, -1])[0], [0.1, 0.2, 0.3, 0.2])
    assert np.allclose(followed(ag.Drive(delay=0.02), [1, 2, 3, 4])[0], [0, 0, 1, 2])
    assert np.allclose(followed(ag.Drive(dead_zone=0.5), [0.4, 0.6, 0.8, 1.2])[0], [0, 0.6, 0.6, 1.2])
    assert np.allclose(followed(ag.Drive(backlash=0.4), [1, 0.9, 0.5, 1.0])[0], [0.8, 0.8, 0.7, 0.8])
    lagging, _ = followed(ag.Drive(lag=0.05), [1.0] * 20)
    assert np.allclose(lagging, 1 - np.exp(-0.01 * np.arange(1, 21) / 0.05))


def test_what_follows_is_what_acts():
    values, stepper = followed(ag.Drive(rate=10), [1.0] * 30)
    speed = np.sum(values) * 0.01  # inertia 1 kg m^2, trapezoidal
    assert abs(stepper.v[0] - speed) < 0.01 * 0.5 * (values[-1] + values[0])
    stepper.reset()
    assert stepper.inputs["motor"] == 1.0 and stepper.t == 0.0


def test_simulate_follows_drives_as_a_stepper_does():
    _, stepper = followed(ag.Drive(high=0.5, rate=10, delay=0.02), [1.0] * 30)
    run = ag.simulate(
        stepper.robot, duration=0.3, dt=0.01, inputs={"motor": lambda t: 1.0 if t > 0 else 0.0}, events=[]
    )
    assert np.allclose(run.v[-1], stepper.v, rtol=0, atol=1e-12) and run.v[-1, 0] < 0.15


def test_statics_keeps_the_limits_of_drives():
    robot, rod = pole(True)
    free = ag.statics(robot, inputs={"motor": 0.05}).position(rod.tip)
    robot.drive("motor", ag.Drive(high=0.05))
    assert np.allclose(ag.statics(robot, inputs={"motor": 0.2}).position(rod.tip), free, rtol=0, atol=1e-12)


def test_a_bad_drive_is_refused():
    with pytest.raises(ag.DescriptionError, match=r"Drive.low must not exceed Drive.high"):
        ag.Drive(low=2, high=1)
    with pytest.raises(ag.DescriptionError, match=r"Drive.rate"):
        ag.Drive(rate=-1)


# Sensors --------------------------------------------------------------------------------------------------------------


def instrumented(**keywords):
    robot, rod = pole(True)
    tip = rod.tip.offset_by([0.0, 0.01, 0.02])
    robot.sense("tip", sensors.Position(tip, **keywords))
    robot.sense("pose", sensors.Pose(tip))
    robot.sense("speed", sensors.Velocity(tip))
    robot.sense("gyro", sensors.Gyro(tip))
    robot.sense("weight", sensors.Accelerometer(tip))
    robot.sense("angle", sensors.JointPosition(rod))
    robot.sense("rate", sensors.JointRate(rod))
    robot.sense("fibre", sensors.StrainGauge(rod, [0.1, 0.3], ["bend_z", "twist"]))
    robot.sense("length", sensors.LineLength("line"))
    robot.sense("tension", sensors.Effort("line"))
    return robot, rod, tip


def test_sensors_read_what_results_say():
    robot, rod, tip = instrumented()
    run = ag.simulate(robot, duration=0.3, dt=0.005, inputs=LAWS | {"line": 1.5})
    assert len(run.reading_labels) == run.readings.shape[1] == len(run.reading_units) == 27
    assert np.allclose(run.reading("tip"), run.position(tip), rtol=0, atol=1e-14)
    R = run.pose(tip)[:, :3, :3]
    w, x, y, z = run.reading("pose")[:, 3:].T
    assert np.allclose(w**2 + x**2 - y**2 - z**2, R[:, 0, 0]) and np.allclose(2 * (x * y - w * z), R[:, 0, 1])
    assert np.allclose(2 * (x * z - w * y), R[:, 2, 0]) and np.allclose(2 * (y * z + w * x), R[:, 2, 1])
    speed = np.gradient(run.position(tip), run.t, axis=0, edge_order=2)
    assert np.allclose(run.reading("speed")[5:-5], speed[5:-5], rtol=0, atol=0.02 * np.abs(speed).max())
    # dR/dt = R [gyro]x
    turn = np.einsum("tji,tjk->tik", R[:-2], R[2:])
    spin = np.stack([turn[:, 2, 1] - turn[:, 1, 2], turn[:, 0, 2] - turn[:, 2, 0], turn[:, 1, 0] - turn[:, 0, 1]], 1)
    assert np.allclose(run.reading("gyro")[6:-5], spin[5:-4] / 0.02, rtol=0, atol=0.03 * np.abs(spin).max() / 0.02)
    felt = np.einsum("tij,tj->ti", R, run.reading("weight")) + np.array([0, 0, -9.81])
    change = np.gradient(run.reading("speed"), run.t, axis=0, edge_order=2)
    assert np.allclose(felt[10:-10], change[10:-10], rtol=0, atol=0.05 * np.abs(change).max())
    assert np.array_equal(run.reading("angle")[:, 0], run["pole.angle"])
    fibre = run.strain(rod, [0.1, 0.3])
    assert np.allclose(run.reading("fibre"), fibre[:, :, [2, 0]].reshape(len(run.t), -1), rtol=0, atol=1e-12)
    assert np.allclose(run.reading("length")[:, 0], run.length("line"), rtol=0, atol=1e-14)
    assert np.allclose(run.reading("tension")[:, 0], 1.5)


def test_a_stepper_reads_the_same():
    robot, _, _ = instrumented()
    stepper = ag.Stepper(robot, dt=0.005, inputs={"line": 1.5, "push": 0.1}, history=True)
    rows = [stepper.read()]
    for k in range(40):
        stepper.step({name: law((k + 1) * 0.005) for name, law in LAWS.items()})
        rows.append(stepper.read())
    assert np.allclose(rows, stepper.trajectory().readings, rtol=0, atol=1e-10)
    assert np.array_equal(stepper.read("tip"), rows[-1][:3])


def test_instruments():
    robot, _, _ = instrumented(noise=1e-3, resolution=5e-4, delay=0.01, rate=50)
    stepper = ag.Stepper(robot, dt=0.005, inputs={"motor": 0.3}, history=True, seed=3)
    shown = [stepper.read("tip")]
    for _ in range(200):
        stepper.step()
        shown.append(stepper.read("tip"))
        assert np.array_equal(stepper.read("tip"), shown[-1])
    shown, true = np.array(shown), stepper.trajectory().reading("tip")
    assert np.allclose(shown / 5e-4, np.round(shown / 5e-4), atol=1e-6)
    fresh = np.arange(4, 201, 4)
    assert np.array_equal(shown[fresh], shown[fresh - 4 + 4]) and np.array_equal(
        shown[fresh[:-1] + 3], shown[fresh[:-1]]
    )
    error = shown[fresh] - true[fresh - 2]
    assert 0.8e-3 < np.std(error) < 1.3e-3 and abs(np.mean(error)) < 2e-4


def test_a_contact_is_felt():
    robot = ag.Robot("ball")
    ball = robot.add(ag.RigidBody(0.2, (1e-4,) * 3), at=robot.ground, joint=ag.Free(), pose=[0, 0, 0.03])
    floor = robot.load(ag.Contact(ball.frame, ag.HalfSpace((0, 0, 1)), radius=0.03, stiffness=1e4, damping=20))
    robot.sense("foot", sensors.ContactForce(floor))
    stepper = ag.Stepper(robot, dt=0.002)
    stepper.step(500)
    assert np.allclose(stepper.read("foot"), [0, 0, 0.2 * 9.81], rtol=0, atol=1e-4)


def test_bad_sensors_are_refused():
    robot, rod = pole(True)
    with pytest.raises(ag.DescriptionError, match=r"arc lengths within 0\.5 m"):
        sensors.StrainGauge(rod, [0.6])
    with pytest.raises(ag.DescriptionError, match="there is no strain 'bent'"):
        sensors.StrainGauge(rod, [0.1], ["bent"])
    with pytest.raises(ag.DescriptionError, match="no coordinates"):
        other = ag.Robot()
        sensors.JointPosition(other.add(ag.RigidBody(1.0, (1.0,) * 3), at=other.ground))
    robot.sense("length", sensors.LineLength("lin"))
    with pytest.raises(ag.DescriptionError, match="sensor 'length': there is no actuator 'lin'; there are: line"):
        ag.Stepper(robot, dt=0.01)


# Files ----------------------------------------------------------------------------------------------------------------


def test_files_hold_inputs_drives_and_sensors(tmp_path):
    robot, _, _ = instrumented(noise=1e-3)
    robot.drive("motor", ag.Drive(low=-1, high=1, rate=5.0))
    ag.write_robot(robot, tmp_path / "pole.yaml")
    again = ag.read_robot(tmp_path / "pole.yaml")
    assert again.inputs == robot.inputs and again.drives == robot.drives
    run = ag.simulate(robot, duration=0.1, dt=0.005, inputs=LAWS | {"line": 1.5})
    same = ag.simulate(again, duration=0.1, dt=0.005, inputs=LAWS | {"line": 1.5})
    assert np.allclose(run.readings, same.readings, rtol=0, atol=1e-12) and run.reading_labels == same.reading_labels
    assert again.sensors["tip"].noise == 1e-3
    run.save(tmp_path / "pole.nc")
    kept = ag.load(tmp_path / "pole.nc")
    assert np.allclose(kept.readings, run.readings, rtol=0, atol=1e-9)
    assert np.allclose(ag.powers(kept).motors, ag.powers(run).motors, rtol=0, atol=1e-9)


def test_mistakes_in_files_are_told(tmp_path):
    path = tmp_path / "pole.yaml"
    ag.write_robot(instrumented()[0], path)
    text = path.read_text()
    for old, new, told in (
        ("input: motor, unit", "input: motor, untit", "an input has no field 'untit'"),
        ("input: motor,", "input: line,", "already has an input 'line'"),
        ("actuator: line", "actuator: lin", None),
        ("type: gyro", "type: giro", "giro"),
    ):
        assert old in text
        path.write_text(text.replace(old, new, 1))
        with pytest.raises(ag.DescriptionError, match=told or "there is no actuator 'lin'"):
            ag.Stepper(ag.read_robot(path), dt=0.01)
