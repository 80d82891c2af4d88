"""Build a wheel with kernels that are compiled for a common processor: python packaging/wheel.py [folder], about two minutes.

The kernels serve the Python, the Numba and the system that build the wheel; elsewhere they are compiled anew.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from anguilla.compiler.jit import BASELINE, FEATURES, made_for_here

ROOT = Path(__file__).parents[1]
ORDERS = (("core", "contact", "volumes"), ("volumes", "contact", "core"))


def compile_kernels(folder: Path) -> None:
    """Write the kernels that most robots need, by two processes, which share the work."""
    setting = {"NUMBA_CPU_NAME": BASELINE, "NUMBA_CPU_FEATURES": FEATURES, "ANGUILLA_CACHE": str(folder)}
    environment = os.environ | setting | {"ANGUILLA_COMPILERS": "1"}
    command = [sys.executable, str(ROOT / "packaging/compile.py")]
    processes = [subprocess.Popen([*command, *order], env=environment) for order in ORDERS]
    if any([process.wait() for process in processes]):
        sys.exit("the kernels could not be compiled")
    for left in (*folder.rglob("*.claim"), *folder.rglob("*.tmp.*")):
        left.unlink()
    (folder / "made_for.txt").write_text(made_for_here() + "\n", encoding="utf-8")


def main(out: Path) -> None:
    """Compile, then build."""
    with tempfile.TemporaryDirectory() as temporary:
        kernels = Path(temporary, "kernels")
        compile_kernels(kernels)
        command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps"]
        environment = os.environ | {"ANGUILLA_KERNELS": str(kernels)}
        subprocess.run([*command, "--wheel-dir", str(out), str(ROOT)], env=environment, check=True)
        size = sum(file.stat().st_size for file in kernels.rglob("*.nbc"))
    print(f"{out}: a wheel with {size / 1e6:.0f} MB of kernels for {made_for_here()}, {BASELINE}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist"))
