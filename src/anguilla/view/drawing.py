"""A figure that a notebook shows by itself."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

__all__ = ["Drawing"]


class Drawing(Figure):
    """A figure that is shown as the value of a cell, once, whether or not pyplot was imported before."""

    def png(self) -> bytes:
        """The picture as it is shown."""
        stream = io.BytesIO()
        self.savefig(stream, format="png", dpi=self.dpi, facecolor="white")
        return stream.getvalue()

    def _repr_png_(self) -> bytes:
        return self.png()
