"""Environments for learning: any robot behind the interface of Gymnasium, one or many copies at once.

``import anguilla.env`` registers "anguilla/Reach-v0", "anguilla/Track-v0", "anguilla/Swim-v0", "anguilla/Grasp-v0" and
"anguilla/Crawl-v0"; `gymnasium.make` gives one robot, `gymnasium.make_vec` many, which are stepped together in compiled
code. `from_file` makes an environment of a robot file. Needs the package ``gymnasium``.
"""

from __future__ import annotations

from anguilla._doors import public
from anguilla._lazy import lazy
from anguilla.errors import require

_LAZY = {
    "Crawl": "touching",
    "Grasp": "touching",
    "Reach": "tasks",
    "RobotEnv": "single",
    "RobotVectorEnv": "vector",
    "Swim": "tasks",
    "Task": "task",
    "Track": "tasks",
    "from_file": "single",
    "to_stable_baselines": "baselines",
}

__all__ = ["register", *_LAZY]
TASKS = ("Reach", "Track", "Swim", "Grasp", "Crawl")

__getattr__ = lazy(__name__, _LAZY)


def __dir__() -> list[str]:
    return sorted(__all__)


@public
def register() -> None:
    """Register the environments with Gymnasium; importing this package does so."""
    gymnasium = require("gymnasium", "environments need", "rl")
    for task in TASKS:
        name = f"anguilla/{task}-v0"
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="anguilla.env.single:make",
                vector_entry_point="anguilla.env.vector:make",
                kwargs={"task": task},
            )


register()
