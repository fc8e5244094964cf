"""Damaged copies of saved and packed models, each made from a number: what loading them may do, and what it must not.

``XMLCORE_FUZZ_MODELS=100000 python -m pytest tests/models/test_damaged_models.py`` reads a hundred thousand.
"""

import io
import json
import shutil
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from contract.estimators import CASES, problem

from tests.archiving import members as members_of
from tests.archiving import zipped
from xmlcore import TextClassifier
from xmlcore.datasets import TextVectorizer
from xmlcore.models import PackedModel

TEXTS = ["the cat sat", "the dog ran", "a cat and a dog", "a bird sang"] * 3
LISTS = [["cat"], ["dog"], ["cat", "dog"], ["bird"]] * 3
NUMBERS = [0, 1, -1, 2, 3, 7, 14, 48, 10**5, 2**31 - 1, 2**31, 2**63, 10**30, 0.5, -0.5, 1e308, np.nan, np.inf]
OTHERS = [None, True, False, "", "x", "nag", [], {}, [1], ["a"], {"in arrays": "LabelTree"}, "\ud800"]
DTYPES = ["int8", "int32", "int64", "uint64", "float32", "float64", "bool", "complex64", "U3", "S2", "datetime64[s]"]


@cache
def whole():
    """Return the files of models of all kinds, by a name: (name of the file -> its bytes); one file for packed ones."""
    X, Y = problem()
    found = {}
    models = {case.id: case.make().fit(*case.problem()) for case in CASES if case.predicts and case.saves_itself}
    texts = TextClassifier(CASES[0].make(), TextVectorizer(min_df=1)).fit(TEXTS, LISTS)
    hashed = TextClassifier(CASES[0].make(), TextVectorizer(min_df=1, hashing_bits=8)).fit(TEXTS, LISTS)
    named = CASES[0].make().fit(X, Y, label_names=[f"label {j}" for j in range(Y.shape[1])])
    for name, model in (models | {"texts": texts, "hashed texts": hashed, "with names": named}).items():
        with tempfile.TemporaryDirectory() as folder:
            found[name] = {part.name: part.read_bytes() for part in model.save(Path(folder) / "model").iterdir()}
    for name in (CASES[0].id, CASES[4].id):
        found[f"packed {name}"] = {"": PackedModel(models[name], feature_names=None).to_bytes()}
    found["packed texts"] = {"": PackedModel(texts).to_bytes()}
    return found


def damaged(number: int) -> tuple[str, dict[str, bytes], str]:
    """Return a damaged model: the name of the whole one, its files, and what was done to them."""
    rng = np.random.default_rng(number)
    name = list(whole())[number % len(whole())]
    files, done = dict(whole()[name]), []
    for _ in range(int(rng.choice([1, 1, 2, 4]))):
        harm = (_harm_bytes, _harm_arrays, _harm_arrays, harm_json, harm_json, _harm_files)[rng.integers(6)]
        try:
            inside = members_of(files[""]) if "" in files and harm is not _harm_bytes else files
            done.append(f"{harm.__name__}: {harm(rng, inside)}")
        except Exception:  # so damaged already that it cannot be taken apart
            continue
        if inside is not files:
            files[""] = zipped(inside, zipfile.ZIP_STORED)
    if files == whole()[name]:
        done.append(f"_harm_bytes: {_harm_bytes(rng, files)}")
    return name, files, "; ".join(done)


def write(files, folder):
    """Write the files of a model below a new folder; return the path to load."""
    path = folder / "model"
    shutil.rmtree(path, ignore_errors=True)  # if the model before it was a folder
    path.unlink(missing_ok=True)
    if "" in files:
        path.write_bytes(files[""])
        return path
    path.mkdir()
    for name, data in files.items():
        (path / name).write_bytes(data)
    return path


def rows_for(model):
    """Return two rows, or texts, that a loaded model should take, whatever its number of features is."""
    if hasattr(model, "vectorizer_"):
        return ["the cat", "other words"]
    rng = np.random.default_rng(0)
    columns = np.unique(rng.integers(0, min(model.n_features_in_, 14), 6)).astype(np.int64)
    size = columns.size
    last = np.append(columns, model.n_features_in_ - 1) if columns[-1] < model.n_features_in_ - 1 else columns
    values = np.ones(size + last.size, np.float32)
    pointers = np.array([0, size, size + last.size])
    return sp.csr_array((values, np.concatenate([columns, last]), pointers), (2, model.n_features_in_))


def _harm_bytes(rng, files):
    """Change, cut, or repeat bytes of a file."""
    name = _one(rng, sorted(files))
    data = bytearray(files[name])
    kind = rng.integers(5)
    a, b = sorted(rng.integers(0, len(data) + 1, 2).tolist())
    if kind == 0:
        for at in rng.integers(0, len(data), int(rng.choice([1, 2, 8]))).tolist():
            data[at] ^= 1 << int(rng.integers(8))
    elif kind == 1:
        del data[a:]
    elif kind == 2:
        del data[a : min(b, a + 40)]
    elif kind == 3:
        data[a:a] = data[a : min(b, a + 200)]
    else:
        data[a : min(b, a + 16)] = bytes(min(b, a + 16) - a)
    files[name] = bytes(data)
    return f"{name} {kind} {a} {b}"


def _harm_files(rng, files):
    """Remove, add or exchange files, or parts of a packed model."""
    kind, names = rng.integers(3), sorted(files)
    if kind == 0:
        del files[_one(rng, names)]
    elif kind == 1:
        files[_one(rng, ["more.txt", "model.pkl", "arrays.npy"])] = b"more"
    else:
        a, b = _one(rng, names), _one(rng, names)
        files[a], files[b] = files[b], files[a]
    return str(kind)


def harm_json(rng, files):
    """Change a value somewhere in a file of JSON, remove it, or add one."""
    name = _one(rng, sorted(name for name in files if name.endswith(".json")))
    top = json.loads(files[name])
    inside, key = _one(rng, list(_places(top)))
    kind = rng.integers(8)
    before = inside[key]
    if kind == 0:
        del inside[key]
    elif kind == 1 and isinstance(inside, dict):
        inside[_one(rng, ["more", "", "C", "tree", "n_labels"])] = _one(rng, NUMBERS + OTHERS)
    elif kind == 2:
        inside[key] = _one(rng, OTHERS)
    elif kind == 3 and isinstance(before, list) and before:
        inside[key] = before * 2 if rng.integers(2) else before[:-1]
    elif kind == 4 and isinstance(before, (int, float)):
        inside[key] = before + int(rng.choice([-1, 1, 100]))
    else:
        inside[key] = _one(rng, NUMBERS)
    files[name] = json.dumps(top).encode("utf-8", "surrogatepass")
    return f"{name} {key} {kind} -> {str(inside.get(key) if isinstance(inside, dict) else '')[:40]}"


def _harm_arrays(rng, files):
    """Change the values, the type, the shape or the header of an array, remove it, or add one."""
    name = _one(rng, sorted(name for name in files if name.endswith(".npz")))
    members = members_of(files[name])
    key = _one(rng, sorted(members))
    kind = int(rng.integers(9))
    if kind == 0:
        del members[key]
    elif kind == 1:
        other = _one(rng, sorted(members))
        members[key], members[other] = members[other], members[key]
    elif kind == 2:
        members["more.npy"] = members[key]
    elif kind == 3:  # a header that promises other sizes
        shape = _one(rng, ["(10000000000,)", "(100000000,)", "(3, 1000000000)", "(-1,)", "()", "(2,)", "(0, 10)"])
        members[key] = _with_header(members[key], shape)
    else:
        members[key] = _as_npy(_changed(rng, np.load(io.BytesIO(members[key]), allow_pickle=False), kind))
    files[name] = zipped(members, zipfile.ZIP_STORED)
    return f"{name} {key} {kind}"


def _changed(rng, array, kind):
    """Return an array with another type or shape, or with other values."""
    if kind == 4:
        return array.astype(_one(rng, DTYPES))
    if kind == 5:
        shape = _one(rng, [(1, *array.shape), (*array.shape, 1), (array.size,), (array.size, 0), ()])
        return np.resize(array, shape)
    if kind == 6:
        return np.resize(array, (max(0, array.size + int(rng.choice([-1, 1, 5, -array.size]))), *array.shape[1:]))
    flat = array.ravel().copy()
    if not flat.size:
        return np.zeros(3, array.dtype)
    at = rng.integers(0, flat.size, int(rng.choice([1, 1, 3, flat.size])))
    if kind == 7:
        if flat.dtype.kind == "f":
            flat[at] = _one(rng, [np.nan, np.inf, -np.inf, 1e38, -1e38, 0.0, 1e-45])
        elif flat.dtype.kind in "iu":
            info = np.iinfo(flat.dtype)
            flat[at] = _one(rng, [-1 if info.min else info.max, info.max, info.min, 0, 1, 7, 14, 48, 1000])
    else:
        rng.shuffle(flat)
    return flat.reshape(array.shape)


def _with_header(data, shape):
    """Return the bytes of an array whose header has another shape."""
    array = np.load(io.BytesIO(data), allow_pickle=False)
    header = f"{{'descr': '{array.dtype.str}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + array.tobytes()


def _as_npy(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()


def _places(value):
    """Yield all places in a value of JSON: the dict or list, and the key or index."""
    for key in list(value) if isinstance(value, dict) else range(min(len(value), 20)):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from _places(value[key])


def _one(rng, options):
    return options[int(rng.integers(len(options)))]
