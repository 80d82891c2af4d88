"""One virtual environment per peer, created on demand under `.bench/<peer>`.

    python benchmarks/environments.py exudyn soromox

prints the path of each interpreter; a runner gets the same from `python_of("exudyn")`. An environment is reused until
its pinned requirements change, then built anew. ANGUILLA_BENCH may name another folder of this kind, in which finished
environments are looked for first.
"""

import argparse
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / ".bench"
OLDEST_PYTHON = (3, 11)

REQUIREMENTS = {
    "exudyn": ("exudyn==1.13.6", "numpy==2.4.6"),
    "jsrm": (
        "jsrm==0.0.18",
        "diffrax==0.7.2",
        "equinox==0.13.8",
        "jax==0.10.2",
        "jaxlib==0.10.2",
        "numpy==2.4.6",
        "scipy==1.17.1",
    ),
    "mujoco": ("mujoco==4.0.0", "numpy==2.4.6"),
    "pyelastica": ("pyelastica==1.0.0", "numba==0.68.1", "numpy==2.4.6", "scipy==1.17.1"),
    "soromox": (
        "soromox==0.5.0",
        "diffrax==0.7.2",
        "equinox==0.13.8",
        "jax==0.10.2",
        "jaxlib==0.10.2",
        "lineax==0.1.1",
        "numpy==2.4.6",
        "optimistix==0.1.0",
        "scipy==1.17.1",
    ),
}


class InstallError(RuntimeError):
    """The environment of a peer could not be created."""


def python_of(peer: str) -> Path:
    """Interpreter of the environment of `peer`, installed first if it is missing or its requirements changed."""
    if peer not in REQUIREMENTS:
        raise InstallError(f"unknown peer {peer!r}: choose among {', '.join(sorted(REQUIREMENTS))}")
    wanted = "\n".join(REQUIREMENTS[peer]) + "\n"
    for root in (*map(Path, filter(None, [os.environ.get("ANGUILLA_BENCH")])), ROOT):
        folder = root / peer
        python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
        # Written last, so that an interrupted installation is never taken for a finished one.
        stamp = folder / "installed.txt"
        if python.exists() and stamp.exists() and stamp.read_text() == wanted:
            _say(f"{peer}: ready")
            return python
    _create(peer, folder, python)
    stamp.write_text(wanted)
    return python


def _create(peer: str, folder: Path, python: Path) -> None:
    if sys.version_info < OLDEST_PYTHON:
        oldest = ".".join(map(str, OLDEST_PYTHON))
        raise InstallError(f"{peer}: needs Python {oldest} or newer, this is {sys.version.split()[0]}")
    ROOT.mkdir(exist_ok=True)
    (ROOT / ".gitignore").write_text("*\n")
    shutil.rmtree(folder, ignore_errors=True)
    _say(f"{peer}: creating {folder.relative_to(ROOT.parent)}")
    venv.create(folder, with_pip=True)
    for requirement in REQUIREMENTS[peer]:
        _say(f"{peer}:   {requirement}")
    _say(f"{peer}: installing, a few minutes on a slow connection")
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *REQUIREMENTS[peer]]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()[
            -5:
        ]
        raise InstallError(
            f"{peer}: pip could not install its requirements. Is there a wheel of each for Python "
            f"{sys.version.split()[0]} on this platform, and is the package index reachable?\n  " + "\n  ".join(reason)
        )
    _say(f"{peer}: installed")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("peers", nargs="+", choices=sorted(REQUIREMENTS), metavar="peer", help=", ".join(REQUIREMENTS))
    failed = False
    for peer in parser.parse_args().peers:
        try:
            print(python_of(peer), flush=True)
        except InstallError as error:
            _say(f"error: {error}")
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
