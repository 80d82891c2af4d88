"""The command line: ``anguilla COMMAND``, one small file per command.

Exit codes: 0 done, 1 the work failed, 2 the command was not understood, 3 a file or a value is wrong, 4 something must be
installed first, 130 interrupted.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]

INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    try:
        from anguilla.cli.app import main as run  # here: Ctrl-C may come while it is read

        code = run(argv)
    except KeyboardInterrupt:
        print("anguilla: interrupted", file=sys.stderr)
        code = INTERRUPTED
    if code == INTERRUPTED:
        exec(
            ""
        )  # one that came through exec, as in dataclasses, is remembered: Python would end by the signal after all
    return code
