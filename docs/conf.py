"""The manual: MyST pages, most of which run while it is built, and a reference made from the code."""

from __future__ import annotations

import os
import sys
from pathlib import Path

# Before any kernel starts: pages run on the CPU, the same everywhere.
os.environ["JAX_PLATFORMS"] = "cpu"

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import jaxmagic

project = "jaxmagic"
author = "the jaxmagic developers"
copyright = "the jaxmagic developers. Apache License 2.0"
version = release = jaxmagic.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "from_code",
    "searched",
    "cleared",
    "run_notebooks",
    "notebook_links",
    "still_views",
    "accessible",
]
exclude_patterns = ["_ext", "images", "jupyter_execute", "recordings", "tables"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

nb_execution_mode = "force"  # a manual about times shows the times of this build
nb_execution_timeout = 120
nb_execution_raise_on_error = True
nb_merge_streams = True

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["frames.css"]
html_search_scorer = str(Path(__file__).parent / "_ext" / "search_order.js")
html_title = f"jaxmagic {version}"
html_show_sphinx = False
html_copy_source = False
