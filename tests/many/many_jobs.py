"""Jobs that worker processes can import. What they do outside their return value is seen in files of a folder."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import anguilla as ag

SCALE = 2.0


def square(x):
    return x**2


def pair(x, y):
    return {"sum": x + y, "vector": (x, y, x * y), "where": os.getpid()}


def marked(x, folder):
    """Leaves a file for each call."""
    (Path(folder) / f"{x}-{uuid.uuid4().hex}").touch()
    return SCALE * x


def calls(folder):
    """How often `marked`, `killed` and `interrupted` were called for each x."""
    found = {}
    for path in Path(folder).iterdir():
        x = float(path.name.split("-")[0])
        found[x] = found.get(x, 0) + 1
    return found


def killed(x, folder, times):
    """At x = 2 its process is killed, so many times."""
    marked(x, folder)
    if x == 2 and calls(folder)[x] <= times:
        os.kill(os.getpid(), signal.SIGKILL)
    return x


def interrupted(x, folder):
    """At x = 3 somebody presses Ctrl-C, once."""
    marked(x, folder)
    if x == 3 and calls(folder)[x] == 1:
        raise KeyboardInterrupt
    return x


def slow(x):
    time.sleep(60 if x == 1 else 0)
    return x


def leaves(code):
    os._exit(code)


def troubled(x):
    if x == 1:
        raise ag.SolverError("It did not converge.", result=lambda: None, advice="Take smaller steps.")
    if x == 2:
        raise SystemExit("enough")
    return {"value": x, "label": "even" if x % 2 == 0 else "odd", "count": 3}


def ragged(x):
    return {"series": [0.0] * int(x), "fine": x}


def tip(radius, tension):
    material = ag.Material(young=4e5, poisson=0.5, density=1070, damping=0.03)
    robot = ag.Robot("arm")
    arm = robot.add(ag.Rod(0.4, ag.Circle(radius), material, ag.kirchhoff(4)), at=robot.ground)
    robot.actuate("pull", ag.Tendon(arm, ag.parallel(y=0.006)))
    held = ag.statics(robot, inputs={"pull": tension})
    return {"tip": held.position(arm.tip), "energy": held.energy["total"]}


def tips(radii, tension):
    """Tips as another process finds them that loads all of its kernels.

    One that compiles them may differ in the last bits: kernels carry copies of those that they call, compiled in their
    own surroundings (sums in another order, products joined with sums), and which copy is called depends on what came first.
    """
    tip(radii[0], tension)  # compiles them, if nobody has before
    code = "import json, sys, many_jobs as jobs\n"
    code += "print(json.dumps([jobs.tip(radius, float(sys.argv[1]))['tip'].tolist() for radius in map(float, sys.argv[2:])]))"
    command = [sys.executable, "-c", code, str(tension), *map(str, radii)]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
