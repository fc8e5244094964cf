"""``xmlcore dashboard``."""

import subprocess
import sys
from pathlib import Path

import click

import xmlcore


@click.command("dashboard", context_settings={"ignore_unknown_options": True})
@click.option("--port", type=click.IntRange(1, 65535), default=8501, show_default=True, help="Port of the dashboard.")
@click.option("--headless", is_flag=True, help="Do not open a browser.")
@click.argument("further", nargs=-1, type=click.UNPROCESSED, metavar="[OPTIONS OF STREAMLIT]...")
@click.pass_context
def command(ctx, port, headless, further):
    """Start the dashboard, on this machine only, and open it in the browser.

    It runs from a checkout of the project. Further options are those of `streamlit run`, such as
    --server.address 0.0.0.0.
    """
    folder = Path(xmlcore.__file__).resolve().parent.parent
    if not (folder / "app.py").is_file() or not (folder / "pages").is_dir():
        raise FileNotFoundError(
            f"the dashboard is not part of the installed package, and {folder} has no app.py: get the project's "
            "source code, go to its folder, and run: python -m xmlcore dashboard"
        )
    given = ["--server.port", str(port), "--server.headless", str(headless).lower(), *further]
    ctx.exit(subprocess.call([sys.executable, "-m", "streamlit", "run", "app.py", *given], cwd=folder))
