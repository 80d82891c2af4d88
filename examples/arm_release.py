"""A soft arm, clamped and reaching sideways, is pulled and twisted at its tip into an equilibrium, then released.

The arm is a tapered rod of silicone, 40 cm long. It bends, twists, stretches and shears under its own weight, a force
and a moment at the tip. After a quarter of a second both are let go; the arm falls and swings in three dimensions.
"""

import anguilla as ag

LENGTH = 0.4  # [m]
RELEASE = 0.25  # [s]
FORCE, MOMENT = (-0.8, 0.8, 1.5), (0.03, 0.0, 0.03)  # [N], [N m], world axes
NOTHING = (0.0, 0.0, 0.0)


def build():
    """Return the robot and its arm."""
    silicone = ag.Material(young=4e5, poisson=0.5, density=1070, damping=0.03)
    section = ag.taper(ag.Circle(radius=0.020), ag.Circle(radius=0.008), LENGTH)
    strains = ag.reissner(modes=4, twist_modes=3, stretch_modes=2, shear_modes=1)

    robot = ag.Robot("soft_arm")
    arm = robot.add(ag.Rod(LENGTH, section, silicone, strains), at=robot.ground, name="arm")

    def while_held(value):
        return lambda t: value if t < RELEASE else NOTHING

    robot.load(ag.TipWrench(arm, force=while_held(FORCE), moment=while_held(MOMENT)))
    return robot, arm


def main():
    robot, _ = build()
    held = ag.statics(robot)
    run = ag.simulate(robot, duration=3.0, dt=0.005, start=held)
    return held, run


if __name__ == "__main__":
    held, run = main()
    print(held)
    print(run)
    ag.plot(run, "arm_release.png")
    print(ag.animate(run, "arm_release.html"))
