"""Tasks that write a workspace to a file, and read one."""

from dataclasses import dataclass, field
from pathlib import Path

from xmlcore import store
from xmlcore.experiment.engine import given
from xmlcore.experiment.engine.task import Estimate, Task, register
from xmlcore.experiment.sharing.workspace_files import export_workspace
from xmlcore.experiment.sharing.workspace_reading import import_workspace
from xmlcore.parameters import REQUIRED, Parameter
from xmlcore.progress import silent

FILE = "workspace.zip"
START, WRITE_BYTE, READ_BYTE = 0.5, 3e-8, 6e-8  # seconds to begin, and to write or read a byte of what is kept


@dataclass(frozen=True)
class Written:
    """A workspace that is kept as a file: see :meth:`ExportWorkspace.file`."""

    count: int  # number of data sets and results in it
    left_out: dict  # number of results that are not in it, by the reason


@dataclass(frozen=True)
class Imported:
    """A workspace that was read from a file."""

    contents: dict  # what it lists: see :func:`xmlcore.experiment.export_workspace`
    # added, there: number of data sets and results that are new, and that were kept before
    added: int
    there: int
    readings: list[str] = field(default_factory=list)  # see :func:`xmlcore.experiment.import_workspace`
    left_out: int = 0  # results of which an earlier file had another value, and what was computed from them


class _OfWorkspace(Task):
    """A task on a workspace, which belongs to no data set."""

    needs = ()

    def dataset_name(self):
        return "the workspace"


@register
class ExportWorkspace(_OfWorkspace):
    """Write a workspace to a file, see :func:`xmlcore.experiment.export_workspace`. No inputs."""

    kind, folder, result = "export_workspace", "workspace-files", Written
    doing = "Writing the workspace to a file"

    PARAMETERS = (
        Parameter("keys", "Keys", "Of what is written.", "any", REQUIRED),
        Parameter("contents", "Contents", "What the file lists.", "any", REQUIRED),
    )

    def complete(self, params):
        return params | {"keys": sorted(params["keys"])}

    def estimate(self) -> Estimate:
        inventory = store.inventory()
        n_bytes = sum(artifact.bytes for key in self.params["keys"] for artifact in inventory.with_key(key))
        return Estimate(START + WRITE_BYTE * n_bytes)

    def file(self) -> Path:
        return store.folder(self.folder, self.key) / FILE

    def run(self, progress=silent, files=None):
        inventory, keys = store.inventory(), self.params["keys"]
        there = [key for key in keys if inventory.with_key(key)]  # the others were deleted meanwhile
        made = {"count": 0, "left_out": {}}
        if files is not None:
            # The file is written in the folder of the result, which is on the right disk, and says what it left out.
            path = given.scratch(self.key)
            made = export_workspace(path, there, self.params["contents"], progress)
            files[FILE] = path.replace
        return made


@register
class ImportWorkspace(_OfWorkspace):
    """Read a workspace from a file, and keep what is in it. No inputs."""

    kind, folder, result = "import_workspace", "workspace-imports", Imported
    doing = "Reading a workspace from a file"
    can_be_made_again = False

    PARAMETERS = (Parameter("files", "File", "See ``given.described``.", "files", REQUIRED, options=("workspace",)),)

    def exists(self) -> bool:
        """Return whether all of the file was read and is kept, and nothing that another file brought in its place."""
        try:
            found = self.load()
            read = {"", *found.readings}
            return not found.left_out and all(
                store.info(*name).get("of_file", "") in read for name in names(found.contents)
            )
        except store.StoreError:
            return False

    def estimate(self) -> Estimate:
        n_bytes = self.params["files"]["workspace"]["bytes"]
        return Estimate(START + READ_BYTE * n_bytes, 4 * n_bytes)

    def run(self, progress=silent, files=None):
        with given.taken(self.key, ("workspace",)) as paths:
            found = import_workspace(paths["workspace"], progress)
        store.delete(self.folder, self.key)  # what was found when the file was read before
        return found


def names(contents: dict) -> list[tuple[str, str]]:
    """Return kind and key of all that the contents of a workspace list."""
    listed = [(kind, record["key"]) for kind in ("runs", "selections") for record in contents[kind]]
    return [*(("datasets", key) for key in contents["known"]), *listed, *(tuple(pair) for pair in contents["made"])]
