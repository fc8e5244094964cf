"""The results that a workspace lists: add and change them."""

from pages.shared.workspaces import workspace

MOST_MADE = 5000  # results of other kinds that a workspace remembers to have asked for
LISTS = {
    "train": "runs",
    "given_predictions": "runs",
    "select": "selections",
}  # kinds of tasks whose results the workspace lists
FIELDS = tuple(dict.fromkeys(LISTS.values()))  # those lists


def add_made(kind: str, key: str) -> None:
    """Note that this workspace asked for a result that it does not list otherwise; ``kind`` is that of the store."""

    def add(data):
        data["made"] = [pair for pair in data["made"] if pair != [kind, key]][1 - MOST_MADE :] + [[kind, key]]

    workspace.update(add)


def add_result(kind: str, record: dict) -> None:
    """List a result, and have it shown."""

    def add(data):
        listed, key = data[LISTS[kind]], record["key"]
        for kept in listed:
            if kept["key"] == key and record["asked"] > kept.get("asked", 0.0):
                kept["asked"] = record["asked"]
                kept.pop("archived", None)  # whoever asks for a result wants to see it
        if key not in {kept["key"] for kept in listed}:
            listed.append(record)
        if LISTS[kind] == "runs":
            field, name = "shown", record["fingerprint"]
        else:
            field, name = "widgets", f"{workspace.FEATURES_SELECTION} {record['fingerprint']}"
        shown = next((kept for kept in listed if kept["key"] == data[field].get(name)), {})
        if record["asked"] >= shown.get("asked", 0.0):
            data[field][name] = key

    workspace.update(add)


def set_fields(records: list[dict], **fields) -> None:
    """Set fields of listed runs, which are given as records; an empty value removes the field."""

    def change(data):
        for record in data["runs"]:
            if record["key"] in keys:
                record.update(fields)
                for name in [name for name, value in fields.items() if not value]:
                    del record[name]

    keys = {record["key"] for record in records}
    workspace.update(change)
