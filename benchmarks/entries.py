"""What is run for each case: programs, their scripts and settings, and how often."""

from dataclasses import dataclass

CANTILEVERS = ("soft", "stiff200", "stiff")
RODS = (*CANTILEVERS, "flying")


@dataclass(frozen=True, slots=True)
class Entry:
    """A program with one of its settings, as a row of a table."""

    key: str
    title: str
    peer: str | None  # whose environment it needs
    script: str
    options: tuple[str, ...] = ()
    repeat: int = 8
    seldom: bool = False  # slow to start: in the first round and, of six, in the last
    full: tuple[str, ...] = ()  # cases that only the full run has
    cases: tuple[str, ...] = CANTILEVERS

    def arguments(self, case: str) -> tuple[str, ...]:
        """Arguments of the script."""
        named = () if case == "flying" else (case,)
        return *named, *self.options, "--repeat", str(self.repeat)


ANGUILLA = Entry("anguilla", "Anguilla", None, "anguilla_cantilever.py", repeat=40)
FLYING = Entry("anguilla", "Anguilla", None, "flying.py", repeat=20, cases=("flying",))
EXUDYN, EXUDYN_FLYING = "peers/exudyn_cantilever.py", "peers/exudyn_flying.py"

ENTRIES = (
    ANGUILLA,
    FLYING,
    Entry("plain", "Exudyn, plain exact beam", "exudyn", EXUDYN, ("--plain",), repeat=4),
    Entry("damped", "Exudyn, plain, damped", "exudyn", EXUDYN, ("--plain", "--damped"), repeat=4),
    Entry("fastest", "Exudyn, fastest", "exudyn", EXUDYN),
    Entry("settled", "Exudyn, settled", "exudyn", EXUDYN, ("--settled",)),
    # On `stiff` the settled setting has exact beams already.
    Entry("beam", "Exudyn, settled, exact beam", "exudyn", EXUDYN, ("--beam",), cases=("soft", "stiff200")),
    Entry("plain", "Exudyn, plain exact beam", "exudyn", EXUDYN_FLYING, ("--plain",), repeat=4, cases=("flying",)),
    Entry("fastest", "Exudyn, fastest", "exudyn", EXUDYN_FLYING, ("--fastest",), cases=("flying",)),
    Entry("settled", "Exudyn, settled", "exudyn", EXUDYN_FLYING, cases=("flying",)),
    Entry("soromox", "SoRoMoX", "soromox", "peers/soromox_cantilever.py", seldom=True, repeat=3, full=("stiff",)),
    Entry("mujoco", "MuJoCo, flex", "mujoco", "peers/mujoco_cantilever.py", seldom=True, repeat=1),
    Entry("pyelastica", "PyElastica", "pyelastica", "peers/pyelastica_cantilever.py", seldom=True, repeat=1,
          full=("soft", "stiff200")),
    Entry("pyelastica", "PyElastica", "pyelastica", "peers/pyelastica_flying.py", repeat=3, cases=("flying",)),
)  # fmt: skip

PEERS = ("exudyn", "soromox", "mujoco", "pyelastica", "jsrm")
NAMES = {"anguilla": "Anguilla", "exudyn": "Exudyn", "soromox": "SoRoMoX", "mujoco": "MuJoCo", "jsrm": "JSRM",
         "pyelastica": "PyElastica"}  # fmt: skip

# For the figure: element, elements, step [s], spectral radius. First those that no other setting of the sweep of
# peers/exudyn_cantilever.py beats in both time and error, then finer ones than the sweep has.
EXUDYN_FRONT = {
    "soft": (
        ("cable", 4, 0.06, 0.4), ("cable", 5, 0.06, 0.7), ("cable", 5, 0.04, 0.7), ("beam", 12, 0.05, 0.4),
        ("beam", 12, 0.06, 0.6), ("beam", 16, 0.04, 0.4), ("beam", 16, 0.05, 0.7),
        ("cable", 8, 0.02, 0.7), ("cable", 12, 0.01, 0.7), ("beam", 32, 0.02, 0.7), ("beam", 48, 0.01, 0.7),
    ),
    "stiff200": (
        ("cable", 4, 1.25e-3, 0.4), ("cable", 4, 1.25e-3, 0.7), ("cable", 4, 8e-4, 0.4), ("cable", 5, 6.25e-4, 0.7),
        ("cable", 5, 5e-4, 0.4), ("cable", 8, 2.5e-4, 0.7), ("cable", 12, 1.25e-4, 0.7), ("cable", 16, 6.25e-5, 0.7),
        ("beam", 12, 1.25e-3, 0.7), ("beam", 16, 8e-4, 0.7), ("beam", 24, 6.25e-4, 0.7), ("beam", 64, 2.5e-4, 0.7),
    ),
    "stiff": (
        ("beam", 32, 2e-3, 0.4), ("beam", 36, 1.25e-3, 0.4), ("beam", 36, 1e-3, 0.6), ("beam", 40, 1e-3, 0.6),
        ("beam", 64, 5e-4, 0.7), ("beam", 96, 2.5e-4, 0.7),
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Source:
    """A script that prints the rows of one of the other cases."""

    case: str
    peer: str | None
    script: str
    repeat: int = 3
    options: tuple[str, ...] = ()
    rounds: int = 1  # how often, in turns with the others of its case
    full: bool = False  # in the full run only


OTHERS = (
    Source("tendon", None, "tendon.py", 30, ("--own",), 2),
    Source("tendon", "soromox", "peers/soromox_tendon.py"),
    Source("equilibrium", None, "equilibrium.py", 20, (), 2),
    Source("equilibrium", "exudyn", "peers/exudyn_equilibrium.py", 5, (), 2),
    Source("parallel", None, "parallel.py", 3, (), 2),
    Source("parallel", "exudyn", "peers/exudyn_parallel.py", 2, (), 2),
    Source("alone", None, "alone.py", 5),
    # JSRM compiles for minutes.
    Source("planar", None, "planar.py", 30, full=True),
    Source("planar", "jsrm", "peers/jsrm_tendon.py", full=True),
    Source("batch", None, "batch.py", 5, ("--json",)),
    Source("batch", "mujoco", "peers/mujoco_batch.py", 5),
    Source("batch", "soromox", "peers/soromox_batch.py", 3),
)
