"""Settings of the documentation (Sphinx)."""

import re
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import generate
from docutils import nodes
from latex2mathml.converter import convert
from sphinx.ext.autodoc._dynamic import _loader
from sphinx.ext.napoleon import docstring
from sphinx.util import inspect as sphinx_inspect

project = "Anguilla"
author = "Anguilla authors"
copyright = "2026, Anguilla authors"
version = release = installed_version("anguilla")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]  # types of NumPy and of the standard library have no page here

suppress_warnings = ["ref.python"]  # names such as `q` are attributes of several classes
default_role = "code"  # `name` in a docstring

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_type_aliases = {name: name for name in ("ArrayLike", "Array", "Inputs", "Function")} | {"Floats": "Array"}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
add_module_names = False
napoleon_use_ivar = True
napoleon_use_rtype = False
toc_object_entries = False

# Pages load nothing from the network: browsers typeset MathML by themselves.
html_math_renderer = "mathml"
html_theme = "furo"
html_title = "Anguilla"
html_static_path = ["_static"]
html_css_files = ["gallery.css"]


def plain(app, what, name, obj, options, lines):
    """Bars in docstrings are absolute values, not substitutions."""
    lines[:] = [line.replace("|", r"\|") if "``" not in line and "`" not in line else line for line in lines]


# What autodoc makes of ArrayLike (without `str` where that stands elsewhere), and of arrays.
LIKE = re.compile(
    r"_Buffer \| _SupportsArray\[dtype\[Any\]\] \| _NestedSequence\[_SupportsArray\[dtype\[Any\]\]\]"
    r" \| complex \| bytes(?: \| str)? \| _NestedSequence\[complex \| bytes \| str\]"
)
ARRAY = re.compile(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[(\w+)\]\]")
KINDS = {"int64": "IntArray", "bool": "BoolArray"}


def short(text):
    """Types by short names, default values that are made anew as dots."""
    if not text:
        return text
    text = re.sub(r"~?\b(?:numpy|typing|collections|pathlib|anguilla)(?:\.\w+)*\.(?=\w)|~", "", text)
    text = ARRAY.sub(lambda found: KINDS.get(found[1], "Array"), LIKE.sub("ArrayLike", text))
    text = re.sub(r"\bndarray\b(?!\[)", "Array", text)
    return text.replace("<factory>", "...")


def readable(app, what, name, obj, options, signature, returned):
    """Shorten the types of a signature."""
    return short(signature), short(returned)


_stringify = _loader.stringify_annotation
for module in (_loader, docstring):  # of properties, and of attributes that a docstring lists
    module.stringify_annotation = lambda *args, **options: short(_stringify(*args, **options))
sphinx_inspect.TypeAliasForwardRef.__repr__ = lambda alias: alias.name


def math(display):
    """How to write a formula: as MathML."""

    def visit(writer, node):
        text = convert(node.astext(), display=display)
        writer.body.append(f'<div class="math">{text}</div>' if display == "block" else text)
        raise nodes.SkipNode

    return visit, None


def setup(app):
    """Write the pages that are made from the code and from the examples before the others are read."""
    app.add_html_math_renderer("mathml", math("inline"), math("block"))
    app.connect("autodoc-process-docstring", plain)
    app.connect("autodoc-process-signature", readable)
    app.connect("builder-inited", lambda app: generate.write(Path(app.srcdir) / "generated"))
