"""Pictures of results: geometry (`scene`), figures (`plots`), a page that moves (`page`), a viewer (`live`).

The package is also a function: ``ag.view(run)`` opens the viewer (`anguilla.view.live.show`).
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from anguilla.errors import DescriptionError

if TYPE_CHECKING:
    from anguilla.view.shown import Shown
    from anguilla.view.soft import SoftDriver, SoftShown


class _View(ModuleType):
    """A package that can be called, so that `ag.view(run)` and `import anguilla.view.plots` both work."""

    def __call__(self, *what: Any, **options: Any) -> Shown | SoftShown | SoftDriver:
        from anguilla.view.live import show

        if len(what) + ("what" in options) != 1:
            raise DescriptionError(
                "view needs one thing to show: a result, a robot, a soft body, or a file (.nc, .yaml)."
            )
        return show(*what, **options)


sys.modules[__name__].__class__ = _View
