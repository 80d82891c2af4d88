"""Pages before a person's eyes: opened in the browser, kept open while a script waits."""

from __future__ import annotations

import os
import sys

__all__ = ["is_interactive", "open_page"]


def open_page(address: str, wanted: bool | None) -> None:
    """Open a page in the browser if that is wanted; by default when a person sits before a screen."""
    screen = sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    if wanted or (wanted is None and screen and sys.stdout.isatty()):
        import webbrowser

        webbrowser.open(address)


def is_interactive() -> bool:
    """Whether Python is at a prompt or in a notebook, and goes on living when a call returns."""
    return hasattr(sys, "ps1") or bool(sys.flags.interactive) or "ipykernel" in sys.modules
