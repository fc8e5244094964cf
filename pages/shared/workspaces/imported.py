"""Listing what was read from the file of a workspace."""

from pages.shared import format
from pages.shared.workspaces import dataset_list, result_list, workspace


def list_all(result) -> None:
    """List data sets and results of an import in this workspace, and say so; what is listed already stays as it is."""

    def add(data):
        for fingerprint, entry in result.contents["known"].items():
            taken = [other["name"] for other in data["known"].values()]
            if fingerprint not in data["known"]:
                data["known"][fingerprint] = entry | {"name": dataset_list.free_name(entry["name"], taken)}
        for kind in result_list.LISTS.values():
            listed = {record["key"] for record in data[kind]}
            data[kind] += [record | {"asked": 0.0} for record in result.contents[kind] if record["key"] not in listed]
            data[kind].sort(key=lambda record: record["created"])
        known = {record["key"] for record in data["sweeps"]}
        data["sweeps"] += [record for record in result.contents.get("sweeps", ()) if record["key"] not in known]
        data["sweeps"].sort(key=lambda record: record["asked"])
        data["made"] += [pair for pair in result.contents["made"] if pair not in data["made"]]

    workspace.update(add)
    sets = format.count(len(result.contents["known"]), "data set")
    rest = sum(len(result.contents.get(name, ())) for name in ("runs", "selections", "sweeps", "made"))
    workspace.notify(
        f"The workspace is read: {sets} and {format.count(rest, 'result')}. Choose a data set on the Data page."
    )
