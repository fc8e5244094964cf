"""A damaged model is refused by one kind of error, or it predicts: no crash, no other exception, no gigabytes.

``XMLCORE_FUZZ_MODELS=100000 python -m pytest tests/models/test_damaged_models.py`` reads a hundred thousand.
"""

import io
import json
import os
import resource
import shutil
import tempfile
import time
import warnings
import zipfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from contract.estimators import CASES, MODELS, problem

from tests.archiving import members as members_of
from tests.archiving import npz, zipped
from xmlcore import TextClassifier, load_model
from xmlcore.datasets import TextVectorizer
from xmlcore.models import ModelFormatError, PackedModel
from xmlcore.models.base import warm_up

N_MODELS = int(os.environ.get("XMLCORE_FUZZ_MODELS", 150))
MEMORY = 2 << 30  # bytes that loading and predicting may ask for, beyond what the tests have
SECONDS = 10  # for one model
TEXTS = ["the cat sat", "the dog ran", "a cat and a dog", "a bird sang"] * 3
LISTS = [["cat"], ["dog"], ["cat", "dog"], ["bird"]] * 3
NUMBERS = [0, 1, -1, 2, 3, 7, 14, 48, 10**5, 2**31 - 1, 2**31, 2**63, 10**30, 0.5, -0.5, 1e308, np.nan, np.inf]
OTHERS = [None, True, False, "", "x", "nag", [], {}, [1], ["a"], {"in arrays": "LabelTree"}, "\ud800"]
DTYPES = ["int8", "int32", "int64", "uint64", "float32", "float64", "bool", "complex64", "U3", "S2", "datetime64[s]"]
SHAPES = ["(10000000000,)", "(100000000,)", "(3, 1000000000)", "(-1,)", "()", "(2,)", "(0, 10)"]  # of damaged headers


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
    """Return the model that a number damages: the name of the whole one, its files, and what was done to them."""
    rng = np.random.default_rng(number)
    name = list(whole())[number % len(whole())]
    files, done = dict(whole()[name]), []
    for _ in range(int(rng.choice([1, 1, 2, 4]))):
        harm = (harm_bytes, harm_arrays, harm_arrays, harm_json, harm_json, harm_files)[rng.integers(6)]
        try:
            inside = members_of(files[""]) if "" in files and harm is not harm_bytes else files
            done.append(f"{harm.__name__}: {harm(rng, inside)}")
        except Exception:  # so damaged already that it cannot be taken apart
            continue
        if inside is not files:
            files[""] = zipped(inside, zipfile.ZIP_STORED)
    if files == whole()[name]:
        done.append(f"harm_bytes: {harm_bytes(rng, files)}")
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


def one(rng, options):
    return options[int(rng.integers(len(options)))]


def harm_bytes(rng, files):
    """Change, cut, repeat or clear bytes of a file."""
    name = one(rng, sorted(files))
    data = bytearray(files[name])
    a, b = sorted(rng.integers(0, len(data) + 1, 2).tolist())
    part = data[a : min(b, a + 40)]
    kind = int(rng.integers(5))
    if kind == 0:
        del data[a:]
    else:
        flipped = bytes(byte ^ 1 << int(rng.integers(8)) for byte in part[:8])
        data[a : a + len(part)] = (flipped + part[8:], b"", 2 * part, bytes(len(part)))[kind - 1]
    files[name] = bytes(data)
    return f"{name} {kind} {a} {b}"


def harm_files(rng, files):
    """Remove, add or exchange files, or parts of a packed model."""
    kind, names = rng.integers(3), sorted(files)
    a, b = one(rng, names), one(rng, names)
    if kind == 0:
        del files[a]
    elif kind == 1:
        files[one(rng, ["more.txt", "model.pkl", "arrays.npy"])] = b"more"
    else:
        files[a], files[b] = files[b], files[a]
    return str(kind)


def harm_json(rng, files):
    """Change a value somewhere in a file of JSON, remove it, or add one."""
    name = one(rng, sorted(name for name in files if name.endswith(".json")))
    top = json.loads(files[name])
    inside, key = one(rng, list(places(top)))
    kind, before = rng.integers(8), inside[key]
    if kind == 0:
        del inside[key]
    elif kind == 1 and isinstance(inside, dict):
        inside[one(rng, ["more", "", "C", "tree", "n_labels"])] = one(rng, NUMBERS + OTHERS)
    elif kind == 2 and isinstance(before, list) and before:
        inside[key] = before * 2 if rng.integers(2) else before[:-1]
    elif kind == 3 and isinstance(before, (int, float)):
        inside[key] = before + int(rng.choice([-1, 1, 100]))
    else:
        inside[key] = one(rng, OTHERS if kind == 4 else NUMBERS)
    files[name] = json.dumps(top).encode("utf-8", "surrogatepass")
    return f"{name} {key} {kind} -> {str(inside.get(key) if isinstance(inside, dict) else '')[:40]}"


def places(value):
    """Yield all places in a value of JSON: the dict or list, and the key or index."""
    for key in list(value) if isinstance(value, dict) else range(min(len(value), 20)):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from places(value[key])


def harm_arrays(rng, files):
    """Change the values, the type, the shape or the header of an array, remove it, or add one."""
    name = one(rng, sorted(name for name in files if name.endswith(".npz")))
    members = members_of(files[name])
    key, other = one(rng, sorted(members)), one(rng, sorted(members))
    kind = int(rng.integers(9))
    if kind == 0:
        del members[key]
    elif kind == 1:
        members[key], members[other] = members[other], members[key]
    elif kind == 2:
        members["more.npy"] = members[key]
    else:
        array = np.load(io.BytesIO(members[key]), allow_pickle=False)
        if kind == 3:  # a header that states other sizes
            header = (
                f"{{'descr': '{array.dtype.str}', 'fortran_order': False, 'shape': {one(rng, SHAPES)}, }}\n".encode()
            )
            members[key] = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + array.tobytes()
        else:
            members[key] = members_of(npz(a=changed(rng, array, kind)))["a.npy"]
    files[name] = zipped(members, zipfile.ZIP_STORED)
    return f"{name} {key} {kind}"


def changed(rng, array, kind):
    """Return an array with another type or shape, or with other values."""
    if kind == 4:
        return array.astype(one(rng, DTYPES))
    if kind == 5:
        shape = one(rng, [(1, *array.shape), (*array.shape, 1), (array.size,), (array.size, 0), ()])
        return np.resize(array, shape)
    if kind == 6 or not array.size:
        size = max(0, array.size + int(rng.choice([-1, 1, 5, -array.size])))
        return np.resize(array, (size, *array.shape[1:]))
    flat = array.ravel().copy()
    at = rng.integers(0, flat.size, int(rng.choice([1, 1, 3, flat.size])))
    if kind == 8:
        rng.shuffle(flat)
    elif flat.dtype.kind == "f":
        flat[at] = one(rng, [np.nan, np.inf, -np.inf, 1e38, -1e38, 0.0, 1e-45])
    elif flat.dtype.kind in "iu":
        info = np.iinfo(flat.dtype)
        flat[at] = one(rng, [-1 if info.min else info.max, info.max, info.min, 0, 1, 7, 14, 48, 1000])
    return flat.reshape(array.shape)


def rows_for(model):
    """Return two rows, or texts, that a loaded model should take, whatever its number of features is."""
    if hasattr(model, "vectorizer_"):
        return ["the cat", "other words"]
    few, last = np.arange(0, min(model.n_features_in_, 14), 3), [model.n_features_in_ - 1]
    columns, ptr = np.concatenate([few, last]), [0, few.size, few.size + 1]
    return sp.csr_array((np.ones(columns.size, np.float32), columns, ptr), (2, model.n_features_in_))


@pytest.fixture(scope="module")
def compiled():
    """Compile all kernels first, which takes time and memory of its own."""
    for case in MODELS:
        if case.saves_itself:
            warm_up(case.make())


@pytest.fixture
def little_memory(compiled):
    """Make requests for more than ``MEMORY`` fail."""
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
    yield
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def outcome(path):
    """Load a model and predict with it: the error if it is refused, else None."""
    try:
        model = load_model(path)
    except ModelFormatError as error:
        return error
    rows = rows_for(model)
    ranking = model.predict_topk(rows, 3)
    assert ranking.labels.shape == (2, 3) and ranking.labels.max() < model.n_labels_ and ranking.labels.min() >= -1
    assert model.n_labels_ >= 1000 or model.predict_proba(rows, 0.1).shape == (2, model.n_labels_)
    return None


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the system does not tell the memory of a process")
@pytest.mark.timeout(300 + N_MODELS / 10)
def test_a_damaged_model_is_refused_or_predicts(tmp_path, little_memory):
    refused, wrong = 0, []
    for number in range(N_MODELS):
        with np.errstate(all="ignore"):
            name, files, done = damaged(number)
        path, start = write(files, tmp_path), time.perf_counter()
        try:
            with warnings.catch_warnings(action="ignore"):
                error = outcome(path)
        except Exception as other:
            wrong.append(f"{number} ({name}; {done}): {type(other).__name__}: {other}"[:400])
        else:
            refused += error is not None
            if error is not None and (len(str(error)) < 20 or str(path) not in str(error)):
                wrong.append(f"{number} ({name}; {done}): says too little: {error}")
        if time.perf_counter() - start > SECONDS:
            wrong.append(f"{number} ({name}; {done}): took {time.perf_counter() - start:.1f} s")
    assert not wrong, f"{len(wrong)} of {N_MODELS}:\n" + "\n".join(wrong[:20])
    assert 0.5 * N_MODELS < refused < N_MODELS  # some damages leave a model that can be used


def test_whole_models_are_loaded_and_predict(tmp_path):
    for files in whole().values():
        assert outcome(write(files, tmp_path)) is None
