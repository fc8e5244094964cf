"""A file is written completely or not at all."""

import os
import uuid
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(path, lasting: bool = True):
    """Give a new binary file beside ``path``, which replaces it at the end if there was no error."""
    # What is ``lasting`` is on the disk then, also if the machine stops.
    path = Path(path)
    if path.exists() and not path.is_file():
        raise FileExistsError(f"{path} is there and is no file: give the name of a file")
    temporary = path.with_name(f".{path.name[:100]}.{uuid.uuid4().hex[:12]}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
            if lasting:
                file.flush()
                os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
