"""Sphinx settings: ``python -m sphinx -W --keep-going -b html docs docs/_build/html``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
sys.path.insert(0, str(Path(__file__).resolve().parent / "_ext"))

import svmpath

project = "svmpath"
author = "The svmpath developers"
copyright = "The svmpath developers, BSD-3-Clause"
version = release = svmpath.__version__

GALLERY = Path(__file__).resolve().parents[1] / "examples" / "gallery"
has_gallery = any(GALLERY.glob("**/plot_*.py"))

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "offline_math",
    *(["sphinx_gallery.gen_gallery"] if has_gallery else []),
]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4
templates_path = ["_templates"]
exclude_patterns = ["_build", "_ext", "**/GALLERY_HEADER.*"]
suppress_warnings = ["config.cache"]  # the gallery's settings hold functions

# Formulas become MathML while the pages are built, so that they show without a network and without JavaScript.
html_math_renderer = "mathml"

# One page per public name, in docs/api/generated; the module's own docstring says the rest.
autosummary_generate = True
autosummary_context = {"has_gallery": has_gallery}
autodoc_typehints = "none"  # the docstrings name the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
add_module_names = False
toc_object_entries_show_parents = "hide"

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": str(GALLERY),
    "gallery_dirs": "gallery",
    "doc_module": ("svmpath",),
    "backreferences_dir": "gallery/backreferences",
    "reference_url": {"svmpath": None},
    "inspect_global_variables": False,
    "abort_on_example_error": True,
    "image_scrapers": ("matplotlib", "films.show_films"),
    "image_srcset": ["2x"],
    "subsection_order": [
        f"../examples/gallery/{name}" for name in ("start", "paths", "choosing", "predictions", "scale")
    ],
    "within_subsection_order": "FileNameSortKey",
    "min_reported_time": 3600,  # the times of a busy machine would only mislead
    "show_memory": False,
    "remove_config_comments": True,
    "show_signature": False,
    "download_all_examples": False,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "svmpath"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "start": ["sidebar-nav-bs"], "faq": []}
html_theme_options = {
    "logo": {"text": "svmpath"},
    "header_links_before_dropdown": 7,
    "navbar_end": ["release", "theme-switcher"],
    "show_nav_level": 1,
    "navigation_depth": 3,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
