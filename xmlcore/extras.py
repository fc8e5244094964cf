"""Packages that not every installation has: what to install where one is missing."""

from importlib import import_module
from importlib.util import find_spec

# Name in the brackets of ``pip install 'xmlcore[figures]'`` -> beginning of an error about a missing package.
EXTRAS = {
    "app": "The dashboard needs",
    "bars": 'Progress bars (progress="bar") need',
    "cli": "The command line needs",
    "cluster": "Clusters need",
    "download": "Downloading data sets needs",
    "excel": "Excel workbooks need",
    "figures": "Figures need",
    "serve": "Serving models over HTTP needs",
    "stems": "Stems of words need",
}
OF_PARTS = {
    "figures": "plotly",
    "serve": "starlette",
    "stems": "snowballstemmer",
}  # packages without which a part of xmlcore is not imported


class MissingExtraError(ImportError):
    """A package that a part of xmlcore needs is not installed. The message says what to install."""


def require(extra: str, *modules: str) -> None:
    """Import the packages of an extra, and raise an error that names the extra if one is not installed."""
    for name in modules:
        try:
            import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:  # the package is there, and something that it needs is not
                raise
            raise MissingExtraError(missing(extra, name), name=name) from None


def is_there(part: str) -> bool:
    """Return whether the package is installed without which a part of xmlcore is not imported."""
    try:
        return part not in OF_PARTS or find_spec(OF_PARTS[part]) is not None
    except ImportError:  # from a finder that hides packages
        return False


def missing(extra: str, name: str) -> str:
    """Return a sentence: which package is not installed, what needs it, and how to install it."""
    everything = "" if extra in ("app", "bars") else ", or all of xmlcore: pip install 'xmlcore[app]'"
    return f"{EXTRAS[extra]} {name}, which is not installed. Install it: pip install 'xmlcore[{extra}]'{everything}"
