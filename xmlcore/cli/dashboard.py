"""``xmlcore dashboard`` and ``xmlcore warm-up``."""

import os
import subprocess
import sys
from pathlib import Path

import click

import xmlcore
from xmlcore.extras import require
from xmlcore.system import CACHE_VARIABLE, cache_root, own_temporary_folder


@click.command("dashboard", context_settings={"ignore_unknown_options": True})
@click.option("--port", type=click.IntRange(1, 65535), default=8501, show_default=True, help="Port of the dashboard.")
@click.option("--headless", is_flag=True, help="Do not open a browser.")
@click.argument("further", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF STREAMLIT]...")
@click.pass_context
def dashboard(ctx, port, headless, further):
    """Start the dashboard, on this machine only, and open it in the browser.

    Further options are those of `streamlit run`, such as --server.address 0.0.0.0.
    """
    require("app", "streamlit")
    given = ["--server.port", str(port), "--server.headless", str(headless).lower(), *further]
    # -P: files in the folder in which the user is, such as a json.py, are not imported.
    _have_home()
    command = [sys.executable, "-P", "-m", "streamlit", "run", str(script()), *given]
    if os.name == "posix":  # the process becomes the server, so that the server gets the signal that ends a container
        os.execv(command[0], command)
    ctx.exit(subprocess.call(command))


def _have_home():
    """Let a user without a home folder, as in a container, have one among the temporary files: Streamlit needs it."""
    try:
        Path.home()
    except RuntimeError:
        os.environ.setdefault(CACHE_VARIABLE, str(cache_root()))  # says where generated files are kept
        os.environ["HOME"] = str(own_temporary_folder())


def script() -> Path:
    """Return the dashboard's app.py: of a checkout that the package lies in, or else in the installed package."""
    package = Path(xmlcore.__file__).resolve().parent
    for folder in (package.parent, package / "_dashboard"):
        if (folder / "app.py").is_file() and (folder / "pages" / "main" / "script.py").is_file():
            return folder / "app.py"
    raise FileNotFoundError(
        f"the dashboard is neither beside {package} nor in it: install the package with pip, from a wheel or from the "
        "project's source code"
    )


@click.command("warm-up")
@click.option(
    "--jobs", type=click.IntRange(1), help="Processes that compile at the same time; by default one per core."
)
@click.pass_context
def warm_up(ctx, jobs):
    """Compile all kernels ahead, and say where they are kept: for container images and servers.

    Without it, each kernel is compiled when it is first used. The status is 1 if the compiled code cannot be kept.
    """
    from xmlcore.warm_up import main

    ctx.exit(main([] if jobs is None else ["--jobs", str(jobs)]))
