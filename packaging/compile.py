"""Compile kernels that most robots share, into ANGUILLA_CACHE: `core`, `contact` or `volumes`.

`make setup` does it while tools are installed, `make wheel` for the wheel.
"""

import sys

import anguilla as ag
from anguilla import fem
from anguilla.cli.demo import release

robot = ag.Robot()
rod = ag.Rod(0.3, ag.Circle(0.01), ag.Material(young=1e6, density=1000), ag.kirchhoff(2))
arm = robot.add(rod, at=robot.ground)
robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.005)))


def core():
    _, _, run = release(duration=3.0)  # long enough for its steps to be judged
    _ = run.energy
    robot.load(ag.Spring(arm.tip, robot.ground, stiffness=0.1, rest=0.3))  # what robots of rods alone do not need
    run = ag.simulate(robot, duration=0.02, dt=0.01, start=ag.statics(robot), inputs={"pull": 0.1})
    run.position(arm.tip), run.energy, run.jacobian(arm.tip)
    ag.gradient(run, ag.Reach(arm.tip, (0.2, 0.0, 0.1)))
    ag.BatchStepper(robot, 2, dt=0.01).step()


def contact():
    robot.load(ag.SelfContact(arm, friction=0.3))
    run = ag.simulate(robot, duration=0.02, dt=0.01, inputs={"pull": 0.1})
    run.contacts(robot.loads[-1]), run.energy


def volumes():
    body = fem.SoftBody("block", fem.block((0.1, 0.02, 0.02), (4, 1, 1)), ag.Material(young=1e6, density=1000))
    body.fix("base")
    fem.statics(body)
    alone = ag.Robot()
    alone.add(rod, at=alone.ground)
    ag.shooting.statics(alone)


for name in sys.argv[1:]:
    {"core": core, "contact": contact, "volumes": volumes}[name]()
