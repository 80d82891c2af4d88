"""Work that is killed or interrupted at random instants, in forks of one process, and what must be true of the disk then.

    python fault_work.py KIND COUNT SEED SIGNAL FOLDER

prints how often it was hit, and exits with 0 if nothing was ever lost. A fork needs no imports, and all forks run the same
machine code: their numbers are the same to the last bit.
"""

import contextlib
import os
import random
import shutil
import signal
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import anguilla as ag
from anguilla.solve.steps import checkpoint, dynamics
from anguilla.store.netcdf import read_netcdf

PATIENCE = 20.0  # [s] after which an interrupted fork is said to hang
INTERRUPTED, FAILED = 42, 43


def arm(pull=1.0):
    rubber = ag.Material(young=1e6, poisson=0.45, density=1000, damping=0.005)
    robot = ag.Robot("long")
    rod = robot.add(ag.Rod(0.4, ag.Circle(0.01), rubber, ag.reissner(3)), at=robot.ground, name="arm")
    robot.load(ag.TipWrench(rod, force=lambda t: (0.0, 0.1 * pull * np.sin(7 * t), 0.0)))
    return robot


def motion(steps, **options):
    return ag.simulate(arm(), duration=steps * 1e-3, dt=1e-3, progress=False, **options)


def same(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in "tqv")


class Simulate:
    """A motion with a checkpoint, then saved: the command line in short."""

    steps = 3000

    def __init__(self, folder):
        self.path, self.out, self.reached = folder / "run.checkpoint", folder / "run.nc", 0
        self.truth = motion(self.steps)

    def work(self):
        motion(self.steps, checkpoint=self.path).save(self.out)

    def check(self):
        """The checkpoint is whole and never goes back; without it, the result is there."""
        if self.out.exists():
            assert same(ag.load(self.out), self.truth), "the result is another"
            self.out.unlink()
            self.path.unlink(missing_ok=True)
            self.reached = 0
        elif self.path.exists():
            with np.load(self.path) as kept:
                arrays = {name: kept[name] for name in kept.files}
            done = int(arrays["done"])
            assert self.reached <= done <= self.steps, "the checkpoint went back"
            assert np.array_equal(arrays["rows_0"], self.truth.q[: done + 1]), "the checkpoint has other numbers"
            self.reached = done
        else:
            assert self.reached == 0, "a motion is lost"


class Checkpointing(Simulate):
    """The same, writing a checkpoint at every opportunity."""

    steps = 60

    def work(self):
        checkpoint.SHARE, dynamics.BLOCK_SECONDS = 1e9, 0.0  # one block for each step
        super().work()


class Ending(Simulate):
    """A motion that is at its end when it is hit, with the checkpoints that a user has: saving is the greater part."""

    steps = 400

    def work(self):
        checkpoint.SECONDS, checkpoint.FIRST, checkpoint.SHARE = 5.0, 1e-4, 0.02
        result = motion(self.steps, checkpoint=self.path)
        self.path.with_suffix(".reached").touch()
        for _ in range(5):  # as a disk that is slow
            result._record()
        result.save(self.out)

    def check(self):
        """Once it was reached, the end is in the checkpoint or in the result."""
        mark = self.path.with_suffix(".reached")
        if mark.exists() and not self.out.exists():
            with np.load(self.path) as kept:
                assert int(kept["done"]) == self.steps, "the end is lost"
        mark.unlink(missing_ok=True)
        super().check()


class Save:
    """A file that is replaced by another, again and again."""

    def __init__(self, folder):
        self.out = folder / "run.nc"
        self.results = [ag.simulate(arm(pull), duration=0.5, dt=1e-3, progress=False) for pull in (1.0, 2.0)]
        self.results[0].save(self.out)

    def work(self):
        for k in range(6):
            self.results[k % 2].save(self.out)

    def check(self):
        """One or the other, whole."""
        found = ag.load(self.out)
        assert any(same(found, result) for result in self.results), "the file is neither the old nor the new one"
        assert set(read_netcdf(self.out).variables) >= {"time", "q", "v"}


def job(x):
    return {"square": x * x, "vector": np.arange(5000.0) + x}


class Sweep:
    """Many runs in a folder."""

    count = 150

    def __init__(self, folder):
        self.folder, self.reached = folder / "study", 0

    def work(self):
        ag.sweep(job, ag.grid(x=np.arange(float(self.count))), file=self.folder, workers=1, progress=False)

    def check(self):
        """All runs that were there are still there, with their numbers."""
        if not (self.folder / "sweep.json").exists():
            assert self.reached == 0, "a sweep is lost"
            return
        table = ag.load(self.folder)
        assert not table.failed
        done = int(table.ok.sum())
        assert done >= self.reached, "runs are lost"
        for run in table:
            if run.ok:
                x = run.parameters["x"]
                assert run.outputs["square"] == x * x and np.array_equal(run.outputs["vector"], np.arange(5000.0) + x)
        self.reached = done
        if done == self.count:
            shutil.rmtree(self.folder)
            self.reached = 0


def fork(case):
    """A process that does the work, from what is on the disk."""
    sys.stdout.flush()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # not yet: Python itself is not done with the fork
    process = os.fork()
    if process:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        return process
    code = FAILED
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        case.work()
        code = 0
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BaseException as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(code)


def wait_for(process, patience):
    """The exit code of a process, or None if it does not end."""
    give_up = time.monotonic() + patience
    while time.monotonic() < give_up:
        ended, status = os.waitpid(process, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return None


def main(kind, count, seed, number, folder):
    warnings.simplefilter("error", ag.AnguillaWarning)
    warnings.filterwarnings("ignore", ".* has too few modes", ag.AnguillaWarning)  # a small robot does
    checkpoint.SECONDS = 0.0
    folder = Path(folder)
    chance = random.Random(seed)
    case = {"simulate": Simulate, "ending": Ending, "checkpoint": Checkpointing, "save": Save, "sweep": Sweep}[kind](
        folder
    )
    assert wait_for(fork(case), 300.0) == 0, "it fails by itself"
    case.check()
    began = time.monotonic()  # of a second one: the first may have to compile
    assert wait_for(fork(case), 300.0) == 0, "it fails by itself"
    usual = time.monotonic() - began
    case.check()
    hit = ended = 0
    while hit < count:
        process = fork(case)
        time.sleep(chance.uniform(0.0, usual))
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)
        code = wait_for(process, PATIENCE)
        assert code is not None, "it hangs"
        expected = INTERRUPTED if number == signal.SIGINT else -number
        assert code in (0, expected), f"it ended with {code}"
        hit += code != 0
        ended += code == 0
        case.check()
    assert wait_for(fork(case), 300.0) == 0, "it does not come to an end"
    case.check()
    left = [file.name for file in folder.rglob(".*.part*")]
    assert len(left) <= (kind in ("simulate", "ending")), f"left behind: {left}"
    print(f"{kind}: hit {hit} times, {ended} were faster; one takes {usual:.2f} s")


if __name__ == "__main__":
    kind, count, seed, number, folder = sys.argv[1:]
    main(kind, int(count), int(seed), int(number), folder)
