"""Run the proofs and write docs/validation.md with their figures.

    python validation/run.py

First the tests marked slow, then `figures()` of every script in this folder, then the tests of statics and dynamics, then the
cases of other programs (`peers/`), then random robots (`soak/`). The page gives for each claim the measured number, the tolerance and the command that repeats it.
Fails if a claim fails, or if a robot is answered wrongly without a word.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

# Read when the numerical libraries start, hence before a script imports them.
os.environ.setdefault("OMP_NUM_THREADS", "1")

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DOCS = ROOT / "docs"
FIGURES = "figures/validation"
NO_TESTS = 5  # what pytest returns when nothing was selected
ROBOTS, SEED = 2000, 2000  # random ones


@dataclass(frozen=True, slots=True)
class Claim:
    """What a number of a report must satisfy."""

    pattern: str  # of the names of the numbers, which a script's figures() returns
    text: str  # with the groups of the pattern
    tolerance: str
    holds: Callable[..., bool]  # of the number, all numbers of its report, and the first group


CLAIMS = (
    Claim(r"elastica (\d+): error with 10 Legendre modes", "Euler's elastica, PL^2/EI = {0}: tip error / length, 10 modes",
          "< 1e-9", lambda x, *_: x < 1e-9),
    Claim(r"elastica (\d+): factor gained by one mode", "the same: the error falls spectrally, factor gained by a mode",
          "> 8", lambda x, *_: x > 8),
    Claim(r"elastica (\d+): order in the intervals", "the same: order of convergence in the intervals",
          "4 +- 0.3", lambda x, *_: abs(x - 4) < 0.3),
    Claim(r"elastica (\d+): order of piecewise constant strain", "PL^2/EI = {0}: order of piecewise constant strain",
          "2 +- 0.1", lambda x, *_: abs(x - 2) < 0.1),
    Claim(r"order of (.*)", "Order in the step on a large swing in space, {0}", "2 +- 0.1",
          lambda x, *_: abs(x - 2) < 0.1),
    Claim(r"energy, (\w+): width of the band", "Midpoint rule, large swing, {0}: band of the energy / kinetic energy",
          "< 1e-3", lambda x, *_: x < 1e-3),
    Claim(r"energy, (\w+): drift over (\d+) steps", "the same: drift over {1} steps", "< 5 % of the band",
          lambda x, numbers, kind: abs(x) < 0.05 * numbers[f"energy, {kind}: width of the band"]),
    Claim(r"finger of five chambers: rms of the angle up to (\d+) kPa \[deg\]",
          "Pneumatic finger, measured by others: rms of its angle up to {0} kPa [deg], nothing fitted, coarse mesh", "< 1.2",
          lambda x, *_: x < 1.2),
    Claim(r"finger of five chambers: it balloons, over (.*) kPa measured",
          "the same: the pressure at which it balloons, over the measured {0} kPa", "1 +- 0.15",
          lambda x, *_: abs(x - 1) < 0.15),
    Claim(r"largest gap of the radius, (.*)", "Spectral radius of a step, {0}: gap to theory", "< 1e-3",
          lambda x, *_: x < 1e-3),
    Claim(r"(\w+): tip error / length", "Cantilever `{0}`: tip against the reference / length", "< 1 %",
          lambda x, *_: x < 0.01),
    Claim(r"(\w+): moved by refinement", "the same: moved by half the step, twice the modes and intervals / length",
          "< 0.3 %", lambda x, *_: x < 0.003),
    Claim(r"bent block, (linear|averaged): order in the boxes", "Bent block of {0} tetrahedra: order in the boxes", "> 1.6",
          lambda x, *_: x > 1.6),
    Claim(r"bent block, quadratic: order in the boxes", "Bent block of quadratic tetrahedra: order in the boxes", "> 2",
          lambda x, *_: x > 2),
    Claim(r"bent block, nu = 0.49, two quadratic boxes: gap to the beam", "Poisson's ratio 0.49, two quadratic boxes through "
          "the thickness: deflection against Timoshenko", "< 5 %", lambda x, *_: x < 0.05),
    Claim(r"heavy block and rod: distance of the tips / way", "Heavy block of quadratic tetrahedra against its Cosserat rod: "
          "distance of the tips / way", "< 0.2 %", lambda x, *_: x < 0.002),
)  # fmt: skip

# Proofs that are tests only: what they compare with, and their tolerance.
PROOFS = (
    ("validation_statics/test_statics_elastica.py", "Euler's elastica and pure bending: tip, slope, root moment", "1e-8"),
    ("validation_statics/test_statics_bvp.py", "rods in space against the strong form: position, internal wrench", "1e-6"),
    ("validation_statics/test_statics_closed_forms.py", "buckling, small deflections, torsion, stretch, tapers", "1e-6"),
    ("validation_statics/test_statics_methods.py", "Newton, load steps and the damped flow agree", "1e-6"),
    ("validation_dynamics/test_dynamics_frequencies.py", "frequencies of Euler and Bernoulli, Rayleigh, Timoshenko", "1e-4"),
    ("validation_dynamics/test_dynamics_orders.py", "large motions against an integrator of order 8", "order 2 +- 0.1"),
    ("validation_dynamics/test_dynamics_energy.py", "energy kept, or lost to viscosity as it should", "5e-4, 1e-4"),
    ("validation_dynamics/test_dynamics_momentum.py", "impulse of loads and reactions is momentum", "2e-5"),
    ("validation_dynamics/test_dynamics_damping.py", "every step is that of its amplification matrix", "1e-3"),
    ("fem/test_fem_elements.py", "patches, scikit-fem's stiffness, tangents of soft volumes", "1e-12, 1e-12, 1e-7"),
    ("fem/test_fem_rods.py", "volumes against rods: loads, straight and helical tendons", "0.2 to 0.7 %"),
    ("control/test_control_robust.py", "largest gamma of 002 (54), by inequality and exactly", "2e-5"),
    ("validation_dynamics/test_dynamics_steps.py", "error-controlled and cut steps, restarts, slow loads", "1e-3"),
)  # fmt: skip


def load(path: Path):
    """The module of a script of this folder."""
    spec = importlib.util.spec_from_file_location(f"validation_{path.stem}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reports(folder: Path) -> dict[str, dict[str, float]]:
    """Numbers of every script of this folder that draws figures, by the script's name."""
    found: dict[str, dict[str, float]] = {}
    for path in sorted(HERE.glob("*.py")):
        if path.name == Path(__file__).name or "def figures(" not in path.read_text():
            continue
        say(f"{path.stem}: figures")
        found[path.stem] = load(path).figures(folder)
    return found


def cantilevers() -> dict[str, float]:
    """Errors of the benchmark's cantilevers and their movement under refinement."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    from anguilla_cantilever import moved
    from cases import CANTILEVERS, tip_error
    from settings import SETTINGS, solve, tip

    numbers: dict[str, float] = {}
    for name, setting in SETTINGS.items():
        say(f"cantilever {name}")
        run, _ = solve(CANTILEVERS[name], setting)
        numbers[f"{name}: tip error / length"] = tip_error(CANTILEVERS[name], run.t, tip(run))
        numbers[f"{name}: moved by refinement"] = moved(CANTILEVERS[name], setting)
    return numbers


def pytest(*arguments: str) -> tuple[int, str]:
    """Exit code of pytest and the line of its counts."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode not in (0, NO_TESTS):
        say(done.stdout[-3000:] + done.stderr[-1000:])
    return done.returncode, done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""


def judged(numbers: dict[str, float]) -> list[tuple[str, float, str, bool]]:
    """Claim, measured number, tolerance and whether it holds, for every number; one without a claim just stands there."""
    rows = []
    for name, value in numbers.items():
        for claim in CLAIMS:
            match = re.fullmatch(claim.pattern, name)
            if match:
                holds = claim.holds(value, numbers, *match.groups()[:1])
                rows.append((claim.text.format(*match.groups()), value, claim.tolerance, holds))
                break
        else:
            rows.append((name, value, "", True))
    return rows


def table(rows: list[tuple[str, float, str, bool]]) -> list[str]:
    """Markdown of judged numbers."""
    lines = ["| claim | measured | tolerance | |", "|---|---:|---|---|"]
    for text, value, tolerance, holds in rows:
        verdict = "" if not tolerance else "holds" if holds else "**fails**"
        lines.append(f"| {text} | {value:.3g} | {tolerance} | {verdict} |")
    return lines


def proofs() -> tuple[list[str], bool]:
    """Markdown of the proofs that are tests, and whether all passed."""
    lines = ["| compared with | tolerance | result | command |", "|---|---|---|---|"]
    good = True
    for path, text, tolerance in PROOFS:
        if not (ROOT / "tests" / path).exists():
            continue
        say(path)
        code, last = pytest(f"tests/{path}")
        counts = re.findall(r"\d+ (?:passed|failed|skipped|errors?)", last)
        good &= code == 0
        lines.append(f"| {text} | {tolerance} | {', '.join(counts) or last} | `pytest tests/{path}` |")
    return lines, good


def robots(count: int = ROBOTS) -> tuple[list[str], bool]:
    """Markdown of how random robots fare, and whether none of them is wrong; an interrupted campaign goes on."""
    sources = sorted(path for folder in ("src", "soak") for path in (ROOT / folder).rglob("*.py"))
    state = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()[
        :12
    ]  # no records of other sources
    out = ROOT / f"soak-{SEED}-{state}.jsonl"
    command = ["soak/run.py", "--robots", str(count), "--seed", str(SEED), "--out", str(out), "--resume"]
    say(f"{count} random robots")
    done = subprocess.run([sys.executable, *command], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    found = re.search(r"^\d+ robots of seed .*", done.stdout, flags=re.MULTILINE | re.DOTALL)
    if found is None:
        say(done.stdout[-3000:])
        return ["The campaign ended early."], False
    shown = f"Command: `python soak/run.py --robots {count} --seed {SEED}`"
    return [shown, "", *found[0].rstrip().splitlines()], done.returncode == 0


def peers() -> tuple[list[str], bool]:
    """Section on the cases of other programs, whose own page is written too, and whether all agree."""
    say("cases of other programs")
    done = subprocess.run(
        [sys.executable, HERE / "peers" / "run.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    lines = done.stdout.splitlines()
    good, bad = sum(line.startswith("ok") for line in lines), [line for line in lines if line.startswith("OFF")]
    say("\n".join(bad) + done.stderr[-1000:])
    text = f"{good} of {good + len(bad)} agree (`python validation/peers/run.py`): {{doc}}`peers_cases`."
    return [text, "", *(f"- {line}" for line in bad)], done.returncode == 0


def say(text: str) -> None:
    """Report progress."""
    print(text, file=sys.stderr, flush=True)


def captions(script: str, folder: Path) -> list[str]:
    """Markdown of the figures of a script."""
    lines = []
    for path in sorted(folder.glob(f"{script}_*.png")):
        title = path.stem.replace("_", ", ", 1).replace("_", " ")
        lines += [f"![{title[0].upper()}{title[1:]}]({FIGURES}/{path.name})", ""]
    return lines


def page(sections: dict[str, list[str]], slow: str) -> list[str]:
    """Lines of docs/validation.md."""
    introduction = (
        f"Written by `make validate` on {date.today().isoformat()}. Every claim is compared with an answer that shares "
        "nothing with the library: a closed form, another formulation, another integrator, the linear theory of a scheme. "
        "Lengths are compared with the length of the rod."
    )
    lines = ["# Validation", "", *textwrap.wrap(introduction, 124), ""]
    for title, section in sections.items():
        lines += [f"## {title}", "", *section, ""]
    return [*lines, f"Tests marked slow: {slow}."]


def main() -> int:
    folder = DOCS / FIGURES
    say("slow tests")
    code, last = pytest("-m", "slow")
    counts = ", ".join(re.findall(r"\d+ (?:passed|failed|skipped|errors?)", last))
    slow = "none yet" if code == NO_TESTS else f"{counts} (`pytest -m slow`)"
    good = code in (0, NO_TESTS)
    sections: dict[str, list[str]] = {}
    results = {name: (f"`python validation/{name}.py`", numbers) for name, numbers in reports(folder).items()}
    results["cantilevers"] = (
        "`python benchmarks/anguilla_cantilever.py soft --refine` (and `stiff`, `stiff200`)",
        cantilevers(),
    )
    for name, (command, numbers) in results.items():
        rows = judged(numbers)
        good &= all(holds for *_, holds in rows)
        sections[name.capitalize()] = [f"Command: {command}", "", *table(rows), "", *captions(name, folder)][:-1]
    sections["Proofs that are tests"], passed = proofs()
    sections["Cases of other programs"], agreed = peers()
    sections["Random robots"], sound = robots()
    (DOCS / "validation.md").write_text("\n".join(page(sections, slow)) + "\n")
    for section in sections.values():
        print("\n".join(line for line in section if line.startswith("|")), end="\n\n")
    return 0 if good and passed and agreed and sound else 1


if __name__ == "__main__":
    sys.exit(main())
