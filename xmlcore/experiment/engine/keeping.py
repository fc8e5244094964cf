"""What is done before work begins whose result is to be kept."""

from xmlcore import store

# Name of an input -> kind in the store.
FOLDERS = {"dataset": "datasets", "run": "runs", "selection": "selections", "packed": "opened-models"}


def ready_to_keep(inputs: dict) -> None:
    """Raise CannotKeepError if a result could not be kept, and record that its inputs are used now."""
    store.check_room()
    for name, key in inputs.items():
        store.used(FOLDERS[name], key, now=True)
