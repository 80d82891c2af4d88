"""The command line: ``anguilla COMMAND``, one small file per command.

Exit codes: 0 done, 1 the work failed, 2 the command was not understood, 3 a file or a value is wrong, 4 something must be
installed first, 130 interrupted.
"""

from anguilla.cli.app import main

__all__ = ["main"]
