"""Do the tests notice a wrong formula? Kernels are made wrong one at a time, and the tests that should notice are run.

    python validation/mutations.py --count 50 --seed 1 --out mutations.json

A mutation flips a sign, drops a minus, or changes a factor by a quarter, somewhere in a formula of a compiled function; what
computes places in arrays is left alone. It is *killed* if a test turns red, else it has *survived*: then a test is missing, or
the formula does not matter (a threshold, a first guess). Small tests near to the formula come first, run as Python; what they
let pass meets the tests of its folder, compiled, and at last (without --quick) all tests. The work goes on where it stopped.
"""

import argparse
import ast
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "anguilla"
DECORATORS = {"inline", "part", "kernel", "entry", "distant"}
FOLDERS = ("mechanics", "interact/kernels", "model", "solve/newton", "solve/steps", "solve/gradients")

# Small tests that are near to a file, run as Python: nothing is compiled for them.
NEAR = {
    "mechanics/flat": ["tests/mechanics/test_mechanics_flat.py", "tests/assemble/test_assemble_tangent.py"],
    "mechanics/vec2": ["tests/mechanics/test_mechanics_flat.py"],
    "mechanics/relaxing": [
        "tests/mechanics/test_mechanics_relaxing.py",
        "tests/validation_dynamics/test_dynamics_relaxing.py",
        "-k",
        "left or terms or linear or creeps or relaxes",
    ],
    "mechanics/joints": [
        "tests/mechanics/test_mechanics_joints.py",
        "tests/multibody/test_multibody_tangent.py",
        "-k",
        "vectors or chain or every_joint",
    ],
    "mechanics/": [
        "tests/mechanics/test_mechanics_kinematics.py",
        "tests/mechanics/test_mechanics_lagrange.py",
        "tests/assemble/test_assemble_tangent.py",
    ],
    "kernels/fluid": ["tests/water"],
    "kernels/stream": ["tests/water"],
    "kernels/distance": ["tests/interact/test_distance.py", "tests/contact/test_contact_tangent.py"],
    "kernels/contact": [
        "tests/interact/test_touch_formulas.py",
        "tests/contact/test_contact_tangent.py::test_tangent_of_a_ball_on_a_bristle",
        "tests/contact/test_contact_tangent.py",
    ],
    "kernels/friction": [
        "tests/interact/test_friction_formulas.py",
        "tests/contact/test_part_contact.py",
        "-k",
        "formulas or exact",
    ],
    "kernels/impact": [
        "tests/interact/test_impact_energy.py",
        "tests/contact/test_contact_impacts.py",
        "-k",
        "gain or height or restitution",
    ],
    "kernels/nearest": ["tests/interact", "tests/contact/test_part_contact.py"],
    "kernels/touch_steps": [
        "tests/interact/test_friction_formulas.py",
        "tests/interact/test_touch_formulas.py",
        "tests/interact/test_impact_energy.py",
    ],
    "kernels/touch_change": [
        "tests/contact/test_part_contact.py",
        "tests/linear/test_linear_touch.py",
        "-k",
        "exact or tangents_are_the_same",
    ],
    "kernels/touch": [
        "tests/interact/test_touch_formulas.py",
        "tests/contact/test_part_contact.py",
        "-k",
        "formulas or moment or exact or momenta",
    ],
    "kernels/rubbing": ["tests/multibody/test_multibody_rubbing.py", "-k", "discs or arc"],
    "kernels/thruster": ["tests/interact/test_interact_thruster.py"],
    "kernels/frames": [
        "tests/interact/test_interact_thruster.py",
        "tests/water/test_water_tangent.py",
        "-k",
        "thruster or hull or gains",
    ],
    "kernels/constraints": ["tests/multibody/test_multibody_loads.py", "-k", "sleigh or wheel or length"],
    "kernels/magnet": ["tests/interact/test_interact_magnet.py"],
    "kernels/tendon": ["tests/multibody/test_multibody_tangent.py", "-k", "tendon"],
    "kernels/": ["tests/multibody/test_multibody_loads.py", "tests/interact", "-k", "magnet or spring or muscle"],
    "model/": [
        "tests/model/test_model_blocks.py",
        "tests/assemble/test_assemble_tangent.py",
        "tests/multibody/test_multibody_tangent.py",
    ],
    "solve/gradients/instants": ["tests/gradients/test_gradients_kinds.py", "-k", "inputs or start"],
    "solve/gradients": ["tests/gradients/test_gradients_adjoint.py"],
    "solve/newton/linear": [
        "tests/solve/test_solve_dense.py",
        "tests/solve/test_solve_judge_cost.py",
        "-k",
        "inverse or units or cholesky or definite",
    ],
    "solve/newton/newton": ["tests/solve/test_solve_newton.py", "tests/validation_dynamics/test_dynamics_orders.py"],
    "solve/steps/schemes": ["tests/solve/test_solve_schemes.py"],
    "solve/steps/carried": [
        "tests/solve/test_solve_carried.py",
        "tests/solve/test_solve_judge_cost.py",
        "-k",
        "carried or local",
    ],
    "solve/steps/gains": ["tests/solve/test_solve_gains.py"],
    "solve/steps/measured": ["tests/solve/test_solve_judge_cost.py", "-k", "local"],
    "solve/": ["tests/validation_dynamics/test_dynamics_orders.py", "tests/validation_dynamics/test_dynamics_steps.py"],
}
# Tests of what the file is for, compiled, in the order in which they are likely to notice.
FAR = {
    "mechanics/": [
        "tests/mechanics",
        "tests/assemble",
        "tests/multibody/test_multibody_tangent.py",
        "tests/validation_statics",
        "tests/gradients/test_gradients_adjoint.py",
        "tests/linear",
        "tests/validation_dynamics/test_dynamics_energy.py",
    ],
    "kernels/touch": ["tests/contact", "tests/linear/test_linear_touch.py", "tests/results"],
    "kernels/impact": ["tests/contact", "tests/results/test_results_blocks.py"],
    "kernels/distance": ["tests/contact", "tests/interact"],
    "kernels/contact": ["tests/contact"],
    "kernels/friction": ["tests/contact"],
    "kernels/rubbing": ["tests/multibody", "tests/identification/test_identification_memory.py", "tests/results"],
    "kernels/": ["tests/multibody", "tests/results", "tests/gradients/test_gradients_kinds.py", "tests/linear"],
    "model/": ["tests/model", "tests/assemble", "tests/linear", "tests/multibody/test_multibody_tangent.py"],
    "solve/gradients": ["tests/gradients"],
    "solve/steps/carried": [
        "tests/solve/test_solve_judge_cost.py",
        "tests/validation_dynamics/test_dynamics_quality.py",
        "tests/validation_dynamics/test_dynamics_judged.py",
    ],
    "solve/": [
        "tests/solve",
        "tests/validation_dynamics",
        "tests/validation_statics",
        "tests/gradients",
        "tests/contact",
    ],
}
ALL = [
    "tests",
    *(f"--ignore=tests/{name}" for name in ("cli", "doors", "env", "faults", "files", "store", "view", "view_live")),
]
LATE = "late"
RED_ANYWAY: set[str] = set()  # options that leave out tests that are red as Python, with any formula
GREEN: set[tuple[str, bool]] = set()  # tests that are green with the right formulas, as Python or compiled
SHORT = 30  # [s] of processor time for tests run as Python
LONG = 600  # the same, for compiled ones and their kernels


@dataclass(frozen=True)
class Mutation:
    """A text of a file, from a place to another, and what stands there instead."""

    file: str
    function: str
    line: int
    start: int
    stop: int
    old: str
    new: str


def kernels(tree: ast.AST) -> list[ast.FunctionDef]:
    """Functions that are compiled."""

    def name(decorator: ast.expr) -> str:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        return getattr(called, "id", "")

    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [node for node in found if any(name(d) in DECORATORS for d in node.decorator_list)]


def formulas(function: ast.FunctionDef) -> list[ast.AST]:
    """Nodes of a function that compute numbers, not places."""
    placed = {  # names that are, or lead to, places in arrays
        name.id
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript)
        for name in ast.walk(node.slice)
        if isinstance(name, ast.Name)
    }
    found: list[ast.AST] = []

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("range", "len", "U", "min", "max"):
            return
        if isinstance(node, ast.Compare | ast.Assert | ast.Raise | ast.While):
            return
        if isinstance(node, ast.Assign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            named = {
                n.id
                for t in targets
                for n in ast.walk(t)
                if isinstance(n, ast.Name) and isinstance(t, ast.Name | ast.Tuple)
            }
            if named & placed:
                return
        if isinstance(node, ast.BinOp | ast.UnaryOp | ast.AugAssign | ast.Constant):
            found.append(node)
        for child in ast.iter_child_nodes(node):
            if not (isinstance(node, ast.Subscript) and child is node.slice):
                visit(child)

    for statement in function.body[1:]:  # without what it says about itself
        visit(statement)
    return found


def changed(node: ast.AST) -> str | None:
    """The text of a wrong formula; None if it cannot be made wrong in a simple way."""
    twin = ast.parse(ast.unparse(node)).body[0]
    inner = twin.value if isinstance(twin, ast.Expr) else twin
    if isinstance(inner, ast.AugAssign):
        swap = {ast.Add: ast.Sub, ast.Sub: ast.Add}
        if type(inner.op) not in swap or isinstance(inner.value, ast.Constant):
            return None
        inner.op = swap[type(inner.op)]()
        return ast.unparse(inner)
    if isinstance(inner, ast.BinOp):
        if any(isinstance(side, ast.Constant) and isinstance(side.value, int) for side in (inner.left, inner.right)):
            return None  # most likely a place or a number of things
        if isinstance(inner.op, ast.Add | ast.Sub):
            if any(name.id.isupper() for name in ast.walk(inner) if isinstance(name, ast.Name)):
                return None  # a place in a record
            inner.op = ast.Sub() if isinstance(inner.op, ast.Add) else ast.Add()
            return f"({ast.unparse(inner)})"
        if isinstance(inner.op, ast.Mult | ast.Div):
            return f"(1.25 * ({ast.unparse(inner)}))"
    if (
        isinstance(inner, ast.UnaryOp)
        and isinstance(inner.op, ast.USub)
        and not isinstance(inner.operand, ast.Constant)
    ):
        return f"({ast.unparse(inner.operand)})"
    if isinstance(inner, ast.Constant) and isinstance(inner.value, float) and 0.0 < abs(inner.value) < 1e6:
        return repr(1.25 * inner.value)
    return None


def mutations(file: Path) -> list[Mutation]:
    """All mutations of a file."""
    text = file.read_text(encoding="utf-8")
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for function in kernels(ast.parse(text)):
        for node in formulas(function):
            start = starts[node.lineno - 1] + node.col_offset
            stop = starts[node.end_lineno - 1] + node.end_col_offset
            new = changed(node)
            if new is not None:
                relative = file.relative_to(PACKAGE).as_posix()
                found.append(Mutation(relative, function.name, node.lineno, start, stop, text[start:stop], new))
    return found


def chosen(count: int, seed: int) -> list[Mutation]:
    """Some mutations, spread over the files by the square root of what each offers."""
    files = [file for folder in FOLDERS for file in sorted((PACKAGE / folder).glob("*.py"))]
    offered = {file: found for file in files if (found := mutations(file))}
    chance = random.Random(seed)
    weights = [len(found) ** 0.5 for found in offered.values()]
    picked: list[Mutation] = []
    while len(picked) < count:
        one = chance.choice(offered[chance.choices(list(offered), weights)[0]])
        if one not in picked:
            picked.append(one)
    return picked


def of_file(table: dict[str, list[str]], file: str) -> list[str]:
    """Tests that belong to a file."""
    return next(tests for part, tests in table.items() if part in file)


def one_by_one(tests: list[str]) -> list[list[str]]:
    """Each file by itself, with the options at the end: pytest would run those of some folders first."""
    files = tests[: tests.index("-k")] if "-k" in tests else tests
    return [[file, *tests[len(files) :]] for file in files]


def red_test(tests: list[str], source: Path, interpreted: bool, patience: int) -> str:
    """The first test that turns red with a package and is green with the right one; "" if there is none."""
    left_out = RED_ANYWAY if interpreted else set[str]()
    while True:
        found = first_red([*tests, *sorted(left_out)], source, interpreted, patience)
        test = found.removeprefix("FAILED ").removeprefix("ERROR ").split(" - ")[0]
        if "::" not in test or (test, interpreted) in GREEN:
            return found
        if not first_red([test], PACKAGE.parent, interpreted, patience):
            GREEN.add((test, interpreted))
            return found
        left_out.add(f"--deselect={test}")


def first_red(tests: list[str], source: Path, interpreted: bool, patience: int) -> str:
    """The line about the first test that is red; "" if all are green; LATE after so much processor time [s]."""
    environment = os.environ | {"PYTHONPATH": str(source), "ANGUILLA_COMPILING": "silent", "OMP_NUM_THREADS": "1"}
    environment |= {"NUMBA_DISABLE_JIT": "1"} if interpreted else {}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not slow and not browser"]
    command += ["-n", "2", "--dist", "loadgroup"] if tests[0] == "tests" else ["-n", "0"]
    options = {"cwd": ROOT, "env": environment, "capture_output": True, "text": True}
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (patience, patience))
    done = subprocess.run([*command, *tests], **options, preexec_fn=limit, check=False)
    if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return LATE
    if done.returncode not in (0, 1, 2, 5):  # 5: a file has none of the tests that were asked for
        raise RuntimeError(done.stdout + done.stderr)
    return next((line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))), "")


def verdict(one: Mutation, work: Path, quick: bool) -> dict:
    """Make the kernel wrong in a copy of the package, and run tests until one is red."""
    target, original = work / "src" / "anguilla" / one.file, PACKAGE / one.file
    text = original.read_text(encoding="utf-8")
    target.write_text(text[: one.start] + one.new + text[one.stop :], encoding="utf-8")
    began = time.monotonic()
    stages = [(tests, True, SHORT) for tests in one_by_one(of_file(NEAR, one.file))]
    if not quick:
        stages += [(of_file(FAR, one.file), False, LONG), (ALL, False, 10 * LONG)]
    found: list[str] = []
    for tests, interpreted, patience in stages:
        found.append(red_test(tests, work / "src", interpreted, patience))
        if found[-1] not in ("", LATE):
            break
    red = "" if found[-1] == LATE else found[-1]
    late = not red and LATE in (found if quick else found[-1:])
    target.write_text(text, encoding="utf-8")
    return {**asdict(one), "red": red[:200], "open": late, "seconds": round(time.monotonic() - began)}


def main() -> int:
    """Try some mutations and print the score."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("mutations.json"))
    parser.add_argument("--quick", action="store_true", help="run the small tests near to the formula only")
    parser.add_argument("--part", default="1/1", help="such as 2/3: the second third, for another process")
    parser.add_argument("--list", action="store_true", help="show the mutations only")
    given = parser.parse_args()
    part, parts = (int(number) for number in given.part.split("/"))
    picked = chosen(given.count, given.seed)[part - 1 :: parts]
    if given.list:
        for one in picked:
            print(f"{one.file}:{one.line} {one.function}: {one.old!r} -> {one.new!r}")
        return 0
    known = json.loads(given.out.read_text()) if given.out.exists() else []
    done = {(row["file"], row["start"], row["old"], row["new"]): row for row in known}
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        shutil.copytree(PACKAGE, work / "src" / "anguilla", ignore=shutil.ignore_patterns("__pycache__"))
        for one in picked:
            key = (one.file, one.start, one.old, one.new)
            if key not in done:
                done[key] = verdict(one, work, given.quick)
                given.out.write_text(json.dumps(list(done.values()), indent=1))
                row = done[key]
                print(
                    f"{one.file}:{one.line} {one.function}: {one.old!r} -> {one.new!r}: {row['red'] or ('OPEN' if row['open'] else 'SURVIVED')}",
                    flush=True,
                )
    rows = [done[(one.file, one.start, one.old, one.new)] for one in picked]
    killed, left = sum(bool(row["red"]) for row in rows), sum(row["open"] for row in rows)
    print(f"{killed} of {len(rows)} killed, {left} open: their tests took too long")
    return 0


if __name__ == "__main__":
    sys.exit(main())
