"""Settings of the documentation (Sphinx)."""

from importlib.metadata import version as installed_version

project = "Anguilla"
author = "Anguilla authors"
copyright = "2026, Anguilla authors"
version = release = installed_version("anguilla")

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
nitpicky = True

# Pages load nothing from the network: formulas are written as code, so MathJax is not needed.
html_theme = "furo"
html_title = "Anguilla"
