"""Make the reference of the public names of ``xmlcore`` from their docstrings.

``python docs/make_reference.py [FOLDER]`` writes HTML pages; without FOLDER they go to ``docs/reference``.
"""

import sys
from importlib import import_module
from pathlib import Path

import pdoc

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "reference"
MODULES = (
    "xmlcore",
    "xmlcore.datasets",
    "xmlcore.models",
    "xmlcore.selection",
    "xmlcore.metrics",
    "xmlcore.decisions",
    "xmlcore.review",
    "xmlcore.robustness",
    "xmlcore.explain",
    "xmlcore.papers",
    "xmlcore.figures",
    "xmlcore.experiment",
    "xmlcore.jobs",
    "xmlcore.store",
    "xmlcore.serve",
    "xmlcore.progress",
)


def load_names(module_name: str) -> None:
    """Import a module and all names that it loads on first use, so that the reference finds them."""
    module = import_module(module_name)
    for name in getattr(module, "__all__", ()):
        setattr(module, name, getattr(module, name))


def main(folder: Path) -> None:
    """Write the reference to a folder."""
    sys.path.insert(0, str(ROOT))
    for name in MODULES:
        load_names(name)
    pdoc.render.configure(docformat="numpy", show_source=False, footer_text="xmlcore")
    found = import_module("xmlcore").__all__  # pdoc finds these itself
    pdoc.pdoc(*(name for name in MODULES if name.rpartition(".")[2] not in found), output_directory=folder)
    print(f"{len(MODULES)} modules in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
