"""Changes of kept results, given as records: name, tag, archive and delete them, and take their code."""

import json

import streamlit as st

from pages.shared import actions, cached, format
from pages.shared.figures import charts
from pages.shared.results import results, run_names
from pages.shared.workspaces import removed, result_list, workspace
from xmlcore import experiment, store

LONGEST_NAME, LONGEST_TAG, LONGEST_NOTE = 60, 30, 2000  # characters
MOST_TAGS = 20  # of a result


def name_button(records: list, page: str) -> None:
    """Show a button that opens a field for the name of a result; results that differ in the seed have one name."""
    first = records[0]
    key = f"{page}.name.{first['key']}"
    with st.popover("Name", icon=":material/edit:", type="tertiary", **actions.refusal()):
        st.text_input(
            "Name of this result",
            value=first.get("name", ""),
            max_chars=LONGEST_NAME,
            key=key,
            placeholder=first["model"],
            on_change=lambda: result_list.set_fields(records, name=_cleaned(st.session_state[key])),
            help="Used wherever this result is listed. Empty: the name of its model.",
        )


def tags_button(records: list, page: str) -> None:
    first = records[0]
    about = f"{page}.{{}}.{first['key'][:12]}.{len(records)}"
    tags_key, note_key = about.format("tags"), about.format("note")
    of = "this result" if len(records) == 1 else f"{len(records)} results"
    with st.popover("Tags and note", icon=":material/sell:", type="tertiary", **actions.refusal()):
        st.text_input(
            f"Tags of {of}",
            value=", ".join(first.get("tags", ())),
            key=tags_key,
            placeholder="final, ablation",
            on_change=lambda: result_list.set_fields(records, tags=read_tags(st.session_state[tags_key])),
            help="Words with commas between them, by which the table can be filtered.",
        )
        st.text_area(
            f"Note on {of}",
            value=first.get("note", ""),
            max_chars=LONGEST_NOTE,
            key=note_key,
            on_change=lambda: result_list.set_fields(records, note=st.session_state[note_key].strip()),
        )


def archive_button(records: list, page: str) -> None:
    back = all(record.get("archived") for record in records)
    actions.button(
        "Bring back from the archive" if back else "Archive",
        key=f"{page}.archive",
        type="tertiary",
        icon=":material/unarchive:" if back else ":material/archive:",
        help=None if back else "Lists leave archived results out. They are kept, and can be shown on the Compare page.",
        on_click=result_list.set_fields,
        args=(records,),
        kwargs={"archived": not back},
    )


def delete_button(records: list, page: str) -> None:
    noun = "this result" if len(records) == 1 else f"{len(records)} results"
    again = " or uploading the file again" if any(map(results.is_given, records)) else ""
    actions.button(
        "Delete",
        key=f"{page}.delete",
        type="tertiary",
        icon=":material/delete:",
        help=f"Removes {noun} from this workspace. *Undo*, or training with the same settings{again}, brings it back.",
        on_click=_delete,
        args=(records,),
    )


def read_tags(text: str) -> list[str]:
    cleaned = dict.fromkeys(_cleaned(tag)[:LONGEST_TAG] for tag in text.split(","))
    return [tag for tag in cleaned if tag][:MOST_TAGS]


def _cleaned(name) -> str:
    """Return a name as it is kept: stripped, and without the mark of our own columns."""
    return name.replace("\u200b", "").strip()


def _delete(records) -> None:
    of = {record["fingerprint"] for record in records}
    every = run_names.names([record for record in workspace.get("runs") if record["fingerprint"] in of])
    names = [every[record["key"]] for record in records if record["key"] in every]
    title = format.listed(names) if len(names) <= 3 else f"{len(names)} results"
    removed.remove("train", [record["key"] for record in records], title)


def show_code(record: dict, file_name: str, place: str) -> None:
    with st.expander("Code and files to repeat it", key=f"{place}.code", icon=":material/code:"):
        known = workspace.get("known")
        files = known.get(record["fingerprint"], {}).get("files", {})
        makers = [entry["task"] for entry in known.values() if "task" in entry]  # not of others with an equal data set
        try:
            code = _code(record["key"], json.dumps([files, makers], sort_keys=True))
        except store.StoreError as error:
            st.caption(f"The code cannot be written: {format.plain(error)}")
            return
        st.caption("These lines make the result again in a notebook, with the same measures.")
        st.code(code, language="python")
        charts.file_button(
            "Bundle, zip",
            lambda: experiment.bundle(record["key"], files=files, makers=makers),
            f"{file_name}.zip",
            "Settings, seed, fingerprint of the data, versions, measures, predictions, figure and code in one file. "
            'experiment.rerun("FILE") makes the result again and says what agrees.',
        )


@cached.shared()
def _code(key, known):
    return experiment.code_of(key, *json.loads(known))
