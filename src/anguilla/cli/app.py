"""The application: commands by name, and errors as one line and an exit code."""

from __future__ import annotations

import _thread
import json
import re
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.exceptions import TyperException

from anguilla._words import did_you_mean
from anguilla.cli import (
    bench,
    check,
    convert,
    demo,
    identify,
    info,
    inverse,
    modes,
    new,
    pictures,
    schema,
    simulate,
    statics,
    sweep,
    viewer,
)
from anguilla.cli.common import (
    DONE,
    FAILED,
    INTERRUPTED,
    MISUSED,
    NOT_INSTALLED,
    WRONG_INPUT,
    Output,
    package_version,
)
from anguilla.errors import AnguillaError, AnguillaWarning, DescriptionError, MissingPackageError
from anguilla.store.spare import leave_spares

__all__ = ["app", "main"]

app = typer.Typer(
    name="anguilla", add_completion=False, no_args_is_help=True, rich_markup_mode="rich", pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)  # fmt: skip
COMMANDS: dict[str, Callable[..., Any]] = {
    "demo": demo.demo,
    "new": new.new,
    "check": check.check,
    "statics": statics.statics_command,
    "simulate": simulate.simulate_command,
    "inverse": inverse.inverse_command,
    "modes": modes.modes_command,
    "sweep": sweep.sweep_command,
    "identify": identify.identify_command,
    "view": viewer.view,
    "plot": pictures.plot_command,
    "video": pictures.video,
    "convert": convert.convert,
    "bench": bench.bench,
    "schema": schema.schema,
    "info": info.info,
}
for name, command in COMMANDS.items():
    app.command(name)(command)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"anguilla {package_version('anguilla')}")
        raise typer.Exit()


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--folder", help="Files that robot files name may lie in this folder or below, not only in their own."
        ),
    ] = None,
) -> None:
    """Simulate, analyse and control soft and continuum robots."""
    if folder is not None and not folder.is_dir():
        raise DescriptionError(f"--folder must be a folder; there is none {str(folder)!r}.")
    Output.folder = folder


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    Output.machine, Output.folder, Output.said, Output.checkpoint = False, None, [], None
    code, before = INTERRUPTED, sys.unraisablehook
    sys.unraisablehook = lambda lost: _press_again(lost, before)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", AnguillaWarning)
            warnings.showwarning = partial(_noted, warnings.showwarning)
            code = _run(argv)
    finally:
        sys.unraisablehook = before
        if code != DONE:
            leave_spares()
    return code


def _noted(otherwise: Callable[..., None], message: Warning | str, category: type[Warning], *where: Any) -> None:
    """Our warnings are notes, each once: where in the code they arose says nothing to people at a command line."""
    if not issubclass(category, AnguillaWarning):
        otherwise(message, category, *where)
    elif str(message) not in Output.said:
        Output.said.append(str(message))
        if not Output.machine:
            print(f"note: {message}", file=sys.stderr)


def _press_again(lost: Any, otherwise: Callable[[Any], Any]) -> None:
    """Ctrl-C in a callback of a compiler or of HDF5 is told to nobody: press it again a moment later."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        timer = threading.Timer(0.05, _thread.interrupt_main)
        timer.daemon = True
        timer.start()
    else:
        otherwise(lost)


def _run(argv: Sequence[str] | None) -> int:
    given = list(sys.argv[1:] if argv is None else argv)
    Output.machine = "--json" in given  # also where the command is not understood
    try:
        code = app(given, prog_name="anguilla", standalone_mode=False)
        return _ended(int(code or DONE))
    except TyperException as error:
        return _misused(error, given)
    except typer.Exit as end:
        return _ended(int(end.exit_code))
    except (typer.Abort, KeyboardInterrupt):
        return _ended(INTERRUPTED)
    except MissingPackageError as error:
        return _failed(error, NOT_INSTALLED)
    except DescriptionError as error:
        return _failed(error, WRONG_INPUT)
    except AnguillaError as error:
        return _failed(error, FAILED)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone; nothing can be said
        return FAILED
    except OSError as error:
        place = f": {error.filename}" if error.filename else ""
        return _failed(AnguillaError(f"{error.strerror or error}{place}"), FAILED)


def _ended(code: int) -> int:
    if code == INTERRUPTED:
        left = Output.checkpoint if Output.checkpoint is not None and Output.checkpoint.exists() else None
        on = f"; the same command goes on from {left}" if left is not None else ""
        print(f"anguilla: interrupted{on}", file=sys.stderr)
    return code


def _misused(error: TyperException, given: list[str]) -> int:
    message = str(getattr(error, "format_message", lambda: error)())
    short = next((word for word in given if re.fullmatch(r"-[a-z]{3,}", word)), None)
    if short is not None:
        message = f"{message.rstrip('.')}. Long options have two dashes: -{short}, not {short}."
    for kind, plain in (("a valid float", "a number"), ("a valid integer", "a whole number")):
        message = message.replace(kind, plain)
    unknown = re.fullmatch(r"No such command '(.*)'\.", message)
    if unknown:
        message = f"There is no command {unknown[1]!r}{did_you_mean(unknown[1], COMMANDS)}."
    if message:
        command = getattr(getattr(error, "ctx", None), "command_path", "anguilla")
        end = "" if message.endswith((".", "?")) else "."
        text = f"{message}{end} Try '{command} --help'."
        if Output.machine:
            print(json.dumps({"ok": False, "error": text, "code": MISUSED, "problems": []}))
        else:
            print(f"anguilla: {text}", file=sys.stderr)
    return MISUSED


def _failed(error: AnguillaError, code: int) -> int:
    """One line for each problem, or a JSON object for machines."""
    problems: Any = getattr(error, "problems", ())
    if Output.machine:
        listed = [problem.as_dict() for problem in problems]
        print(json.dumps({"ok": False, "error": str(error), "code": code, "problems": listed}))
        return code
    if problems:
        print(str(error), file=sys.stderr)
        print(f"anguilla: {len(problems)} problem{'s' if len(problems) > 1 else ''}.", file=sys.stderr)
    else:
        print(f"anguilla: {error}", file=sys.stderr)
    return code
