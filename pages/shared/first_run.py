"""Make the address of every page work in the first run after a start of the server.

Until app.py has called ``st.navigation`` once, Streamlit takes a folder named ``pages`` beside the main script for its
older layout, in which each ``.py`` file directly in that folder is a page. The address of a page without such a file is
answered by a dialog, "Page not found", which stays open. So each page has a file there, which runs app.py. Afterwards
these files are not used.
"""

import runpy
from pathlib import Path

APP = Path(__file__).resolve().parents[2] / "app.py"


def run_app() -> None:
    """Run app.py in the place of a file of the older layout."""
    runpy.run_path(str(APP), run_name="__main__")
