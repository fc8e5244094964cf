"""What pyproject.toml cannot say: the dashboard, which stands beside the package, goes into the wheel."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
FOLDER = "xmlcore/_dashboard"  # in the wheel; xmlcore/cli/dashboard.py finds it there


def dashboard_files() -> list[str]:
    """Return the files of the dashboard, as paths in the checkout."""
    found = [path for path in (ROOT / "pages").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return ["app.py", ".streamlit/config.toml", *sorted(path.relative_to(ROOT).as_posix() for path in found)]


class BuildWithDashboard(build_py):
    """Copy the package, and the dashboard into a folder of it, as in the checkout: app.py, pages/ and its settings."""

    def run(self):
        """Copy what goes into the wheel; an installation that leads back to the checkout needs no copy."""
        super().run()
        if not self.editable_mode:
            for source, target in self._copies():
                self.mkpath(str(Path(target).parent))
                self.copy_file(source, target, preserve_mode=False)

    def get_outputs(self, include_bytecode=True):
        """Return all files that are made."""
        copies = [] if self.editable_mode else [target for _, target in self._copies()]
        return [*super().get_outputs(include_bytecode), *copies]

    def _copies(self):
        """Return where each file of the dashboard lies, and where its copy goes."""
        return [(str(ROOT / name), str(Path(self.build_lib, FOLDER, name))) for name in dashboard_files()]


setup(cmdclass={"build_py": BuildWithDashboard})
