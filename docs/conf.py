"""Configuration of the documentation: `sphinx-build -W -b html . _build/html`.

Nothing is fetched while building. All code in the pages is executed; an error, or a
warning of Sphinx, fails the build.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
# The kernels that execute the pages inherit it: the printed results are the CPU's.
os.environ.setdefault("JAX_PLATFORMS", "cpu")

project = "xlaops"
author = "The xlaops authors"
copyright = "The xlaops authors, Apache-2.0"

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "xlaops_reference",
]
exclude_patterns = ["_build", "**.ipynb_checkpoints", "jupyter_execute"]

# Pages and their execution

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "force"
# An error is then a warning with its traceback, which -W makes fail the build.
nb_execution_raise_on_error = False
nb_execution_show_tb = True
nb_execution_timeout = 300
# What a page writes does not stay in the source tree.
nb_execution_in_temp = True
nb_merge_streams = True

# The reference. In docstrings, `name` refers to a Python object.

default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_maximum_signature_line_length = 88
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
napoleon_custom_sections = ["Source"]

# HTML

html_theme = "sphinx_book_theme"
html_title = "xlaops"
html_theme_options = {"show_toc_level": 2, "use_download_button": False}
html_copy_source = False
html_show_sourcelink = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
