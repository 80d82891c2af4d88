"""Settings of the documentation (Sphinx)."""

import re
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import generate

project = "Anguilla"
author = "Anguilla authors"
copyright = "2026, Anguilla authors"
version = release = installed_version("anguilla")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types of NumPy and of the standard library have no page here

suppress_warnings = ["ref.python"]  # names such as `q` are attributes of several classes
default_role = "code"  # `name` in a docstring

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_type_aliases = {name: name for name in ("ArrayLike", "Floats", "Array", "Inputs", "Function")}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
add_module_names = False
napoleon_use_ivar = True
napoleon_use_rtype = False
toc_object_entries = False

# Pages load nothing from the network: formulas are written as code, so MathJax is not needed.
html_theme = "furo"
html_title = "Anguilla"
html_static_path = ["_static"]
html_css_files = ["gallery.css"]


def plain(app, what, name, obj, options, lines):
    """Bars in docstrings are absolute values, not substitutions."""
    lines[:] = [line.replace("|", r"\|") if "``" not in line and "`" not in line else line for line in lines]


# What autodoc makes of ArrayLike, and of an array of floats.
LIKE = (
    "_Buffer | _SupportsArray[dtype[Any]] | _NestedSequence[_SupportsArray[dtype[Any]]] | complex | bytes | str"
    " | _NestedSequence[complex | bytes | str]"
)
FLOATS = "ndarray[tuple[Any, ...], dtype[float64]]"


def readable(app, what, name, obj, options, signature, returned):
    """Write the long types of NumPy by their short names."""

    def short(text):
        if not text:
            return text
        return (
            re.sub(r"~(?:numpy|typing|collections)[\w.]*\.", "", text)
            .replace(LIKE, "ArrayLike")
            .replace(FLOATS, "Array")
        )

    return short(signature), short(returned)


def setup(app):
    """Write the pages that are made from the code and from the examples before the others are read."""
    app.connect("autodoc-process-docstring", plain)
    app.connect("autodoc-process-signature", readable)
    app.connect("builder-inited", lambda app: generate.write(Path(app.srcdir) / "generated"))
