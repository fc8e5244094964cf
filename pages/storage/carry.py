"""Carrying a workspace to another machine or session: one file with all that it keeps."""

import streamlit as st

from pages.shared import actions, format, jobs, sending, tasks
from pages.shared.fields import switch
from pages.shared.figures import charts
from pages.shared.streamlit_fixes import reconnected
from pages.shared.workspaces import result_list, workspace
from pages.storage import trials
from xmlcore import experiment, store
from xmlcore.experiment.sharing.workspace_files import LEFT_OUT

SHARED = "storage.shared"  # name in the workspace's "widgets": whether those who only look may take the file
ROUND = "upload.round"  # key of st.session_state: a new number makes an empty field
KEPT = ("key", "created", "name", "tags", "note", "archived")  # fields of a listed result that go into the file


def show(own: list, fields: dict) -> None:
    only_looks = workspace.only_looks()
    if only_looks and workspace.get("widgets").get(SHARED) is not True:
        return
    st.header(
        "Take this workspace with you",
        help="One file has the data sets and results of this workspace with their names, tags and notes. Another "
        "machine or session reads it. Models and numbers are in it as plain arrays and text: reading it runs no code.",
    )
    left, right = st.columns(2, gap="large")
    with left:
        _write(own, fields)
        if not only_looks:
            switch("Those who may only look can download it, too", SHARED, False)
    with right:
        _read()


def _write(own, fields):
    written = [artifact for artifact in own if artifact.kind == experiment.KINDS["export_workspace"].folder]
    # A file of a workspace is no part of the workspace: else each file would change what the next one has to hold.
    own = [artifact for artifact in own if artifact.kind not in LEFT_OUT]
    keys = [artifact.key for artifact in own]
    if not keys:
        st.caption("There is nothing to write yet.")
        return
    known = {
        key: {name: entry.get(name) for name in ("name", "source", "notes")} for key, entry in fields["known"].items()
    }
    lists = {kind: [_record(record) for record in fields[kind]] for kind in result_list.FIELDS}
    made = [
        [artifact.kind, artifact.key]
        for artifact in own
        if artifact.kind not in ("datasets", "sweeps", trials.FOLDER, *lists)
    ]
    sweeps = [{name: record[name] for name in ("key", "fingerprint", "params", "asked")} for record in fields["sweeps"]]
    contents = {"known": known, **lists, "sweeps": sweeps, "made": sorted(made)}
    task = experiment.task("export_workspace", {}, {"keys": keys, "contents": contents})

    def draw(result):
        size = format.size(task.file().stat().st_size)
        about = f"A zip archive with {format.count(result.count, 'data set or result', 'data sets and results')}"
        charts.file_button(f"workspace.zip, {size}", task.file().read_bytes, "workspace.zip", about)
        for why, count in result.left_out.items():
            st.caption(f"{format.count(count, 'result')} not in the file: {why}.")

    earlier = max(written, key=lambda artifact: artifact.created, default=None)
    if earlier is not None and not task.exists():
        path = store.folder(*earlier.name) / task.file().name
        about = f"Written {format.since(earlier.created)}, before what was made or changed since"
        charts.file_button(f"workspace.zip of before, {format.size(path.stat().st_size)}", path.read_bytes,
                           "workspace.zip", about)  # fmt: skip
    tasks.shown(task, draw, automatic_below=0, button="Write the file", key="storage.write")


def _record(record) -> dict:
    """Return what goes into the file of a listed result; its settings are in the result."""
    return {name: record[name] for name in KEPT if name in record}


def _read():
    if actions.refused():
        return
    file = st.file_uploader("File of a workspace", type=["zip"], key=f"storage.file.{reconnected.number(ROUND)}")
    if sending.button("Read the file", "storage.read", file):
        sending.start("import_workspace", {}, {}, {"workspace": file}, ROUND)
    jobs.watch(jobs.active("import_workspace"))
    jobs.show_failures(jobs.failed("import_workspace"))
