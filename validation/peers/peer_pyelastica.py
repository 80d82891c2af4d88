"""Cases of PyElastica as PyElastica solves them: prints JSON for `reference.json`.

    .bench/pyelastica/bin/python validation/peers/peer_pyelastica.py

Equilibria are reached by damping. Seconds are those of the steps, after one that compiles.
"""

import json
import sys
import time

import elastica as ea
import numpy as np


class Simulator(ea.BaseSystemCollection, ea.Constraints, ea.Connections, ea.Forcing, ea.Damping):
    """What the cases need."""


def straight(elements, length, radius, young, shear, density, start=(0, 0, 0), direction=(1, 0, 0), normal=(0, 1, 0)):
    return ea.CosseratRod.straight_rod(
        elements, np.array(start, float), np.array(direction, float), np.array(normal, float), length, radius, density,
        youngs_modulus=young, shear_modulus=shear)  # fmt: skip


def march(simulator, duration, dt, read, times):
    """Numbers that `read` gives at the times, and the seconds of the steps."""
    simulator.finalize()
    stepper = ea.PositionVerlet()
    steps = round(duration / dt)
    wanted = {round(t / dt): k for k, t in enumerate(times)}
    found = [None] * len(times)
    stepper.step(simulator, np.float64(0.0), np.float64(1e-14))
    began, now = time.process_time(), np.float64(0.0)
    for k in range(1, steps + 1):
        now = stepper.step(simulator, now, np.float64(dt))
        if k in wanted:
            found[wanted[k]] = read()
    return np.array(found), time.process_time() - began


def clamp(simulator, rod):
    simulator.constrain(rod).using(ea.OneEndFixedBC, constrained_position_idx=(0,), constrained_director_idx=(0,))


def damp(simulator, rod, rate, dt):
    simulator.dampen(rod).using(ea.AnalyticalLinearDamper, uniform_damping_constant=rate, time_step=dt)


def timoshenko(shear):
    simulator, elements, dt = Simulator(), 100, 1e-3
    rod = straight(elements, 3.0, 0.25, 1e6, shear, 5000)
    simulator.append(rod)
    clamp(simulator, rod)
    simulator.add_forcing_to(rod).using(ea.EndpointForces, np.zeros(3), np.array([0, -15.0, 0]), ramp_up_time=1.0)
    damp(simulator, rod, 0.6, dt)
    found, seconds = march(simulator, 60.0, dt, lambda: rod.position_collection[1].copy(), [60.0])
    return {"tip": found[0][-1], "middle": found[0][elements // 2]}, seconds


def stretching():
    simulator, dt = Simulator(), 2e-4
    rod = straight(19, 1.0, 0.025, 1e4, 1e4 / 1.5, 1000)
    simulator.append(rod)
    clamp(simulator, rod)
    simulator.add_forcing_to(rod).using(ea.EndpointForces, np.zeros(3), np.array([1.0, 0, 0]), ramp_up_time=1e-2)
    damp(simulator, rod, 3.0, dt)
    found, seconds = march(simulator, 10.0, dt, lambda: rod.position_collection[0, -1] - 1.0, [10.0])
    return {"elongation": found[0]}, seconds


class Pin(ea.ConstraintBase):
    """Holds the first node, and lets it turn."""

    def __init__(self, fixed_position, **given):
        super().__init__(**given)
        self.fixed_position = np.array(fixed_position)

    def constrain_values(self, system, time):
        system.position_collection[..., 0] = self.fixed_position

    def constrain_rates(self, system, time):
        system.velocity_collection[..., 0] = 0.0


def swinging(elements=50):
    simulator, dt = Simulator(), 2e-5
    rod = straight(elements, 1.0, 0.005, 5e6, 5e6 / 1.5, 1100)
    simulator.append(rod)
    simulator.constrain(rod).using(Pin, constrained_position_idx=(0,))
    simulator.add_forcing_to(rod).using(ea.GravityForces, acc_gravity=np.array([0.0, -9.80665, 0.0]))
    read = lambda: rod.position_collection[:2, -1].copy()
    found, seconds = march(simulator, 1.0, dt, read, [0.25, 0.5, 0.75, 1.0])
    return {"x": list(found[:, 0]), "y": list(found[:, 1])}, seconds


def jointed(hinge, elements=20):
    simulator, dt = Simulator(), 1e-5
    rods = [straight(elements, 0.2, 0.007, 3e7, 2e7, 1750, start=(0.2 * k, 0, 0)) for k in range(2)]
    for rod in rods:
        simulator.append(rod)
    clamp(simulator, rods[0])
    joined = simulator.connect(first_rod=rods[0], second_rod=rods[1], first_connect_idx=-1, second_connect_idx=0)
    if hinge:  # the example has kt = 10, which blows up without its damper
        joined.using(ea.HingeJoint, k=1e5, nu=0, kt=1.0, normal_direction=np.array([0.0, 0.0, 1.0]))
    else:
        joined.using(ea.FreeJoint, k=1e5, nu=0)
    # Its roll direction is normal x tangent: -z for a rod along x. The push starts along -y, then turns from z to y.
    simulator.add_forcing_to(rods[1]).using(
        ea.EndpointForcesSinusoidal, start_force_mag=0, end_force_mag=5e-3, ramp_up_time=0.2,
        tangent_direction=np.array([-1.0, 0, 0]), normal_direction=np.array([0.0, 1, 0]))  # fmt: skip
    read = lambda: rods[1].position_collection[:, -1].copy()
    found, seconds = march(simulator, 2.0, dt, read, [0.5, 1.0, 1.5, 2.0])
    return {name: list(found[:, k]) for k, name in enumerate("xyz")}, seconds


CASES = {
    "Timoshenko's beam": lambda: timoshenko(1e4),
    "the same without shear": lambda: timoshenko(1e6 / 0.6),
    "axial stretching": stretching,
    "swinging pendulum": swinging,
    "two rods on a ball joint": lambda: jointed(False),
    "two rods on a hinge": lambda: jointed(True),
}


def main():
    for name, solve in CASES.items():
        if len(sys.argv) > 1 and sys.argv[1] not in name:
            continue
        try:
            numbers, seconds = solve()
            line = {"case": name, "numbers": numbers, "seconds": round(seconds, 3)}
        except Exception as error:
            line = {"case": name, "failure": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(line, default=float), flush=True)


if __name__ == "__main__":
    main()
