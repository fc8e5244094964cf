"""Archives of xmlcore with members changed, for tests of what reading refuses."""

import io
import json
import zipfile
import zlib

import numpy as np

MANIFEST = "manifest.json"


def members(content):
    """Return the members of a zip file and its manifest as bytes by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def manifest(content):
    return json.loads(members(content)[MANIFEST])


def changed(content, change=None, listed=True, **facts):
    """Return an archive after ``change(files, about)``, with ``facts`` in its manifest, which is true if ``listed``."""
    files = members(content)
    described = json.loads(files.pop(MANIFEST))
    if change is not None:
        change(files, described["about"])
    if listed:
        described["members"] = {name: [len(part), zlib.crc32(part)] for name, part in files.items()}
    return zipped(files | {MANIFEST: json.dumps(described | facts).encode()})


def replaced(content, name, part):
    """Return an archive with a member replaced, and listed with the size and checksum that it has."""
    return changed(content, lambda files, about: files.update({name: part}))


def zipped(files, compression=zipfile.ZIP_DEFLATED):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", compression) as archive:
        for name, part in files.items():
            archive.writestr(name, part)
    return made.getvalue()


def npz(**arrays):
    made = io.BytesIO()
    np.savez(made, **arrays)
    return made.getvalue()


def npz_bomb():
    """Return an npz file whose only array states 10^13 numbers."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**13,)})
    return zipped({"a0.npy": header.getvalue()}, zipfile.ZIP_STORED)


def npz_of_shared_bytes():
    """Return an npz file that lists its only array three times, at the same place."""
    made = io.BytesIO(npz(a0=np.zeros(1000)))
    with zipfile.ZipFile(made, "a") as archive:
        archive.writestr("a1.npy", b"")
        archive.filelist[1:] = archive.filelist[:1] * 2
    return made.getvalue()


def npz_of_objects():
    """Return an npz file with an array that NumPy reads by pickle."""
    return npz(a0=np.array([{"x": 1}], dtype=object))


def npz_compressed():
    made = io.BytesIO()
    np.savez_compressed(made, x=np.zeros(10**6))
    return made.getvalue()


def workbook(*sheets, **more):
    """The bytes of a workbook with sheets of these rows; ``more`` are further parts of its archive."""
    import openpyxl

    made = openpyxl.Workbook()
    made.remove(made.active)
    for rows in sheets:
        sheet = made.create_sheet()
        for row in rows:
            sheet.append(row)
    made.save(buffer := io.BytesIO())
    return zipped(members(buffer.getvalue()) | more) if more else buffer.getvalue()
