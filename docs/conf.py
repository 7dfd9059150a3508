"""Sphinx settings: ``python -m sphinx -W --keep-going -b html docs docs/_build/html``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

import svmpath

project = "svmpath"
author = "The svmpath developers"
copyright = "The svmpath developers, BSD-3-Clause"
version = release = svmpath.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
templates_path = ["_templates"]
exclude_patterns = ["_build"]

# One page per public name, in docs/api/generated; the module's own docstring says the rest.
autosummary_generate = True
autodoc_typehints = "none"  # the docstrings name the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
add_module_names = False

html_theme = "alabaster"
html_theme_options = {
    "description": "Tune support vector machines by following the path, not by searching a grid.",
    "fixed_sidebar": True,
    "page_width": "1000px",
}
html_show_sourcelink = False
html_copy_source = False
