"""Save models to folders, and load them: parameters and values are stored as JSON, arrays as npz, nothing as pickle."""

import enum
import json
import numbers
import os
import shutil
import tempfile
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

import numpy as np

from xmlcore import __version__, wording
from xmlcore.archives import plain_arrays, write_arrays
from xmlcore.arrays import ONE_LIST, are_rising_lists
from xmlcore.label_names import check_label_names
from xmlcore.wording import refusal

FORMAT_VERSION = 3  # docs/versions.md says what happens when it changes
PARAMS_FILE = "params.json"
ARRAYS_FILE = "arrays.npz"

# For a parameter that is saved as arrays, params.json has {IN_ARRAYS: name of the parameter's class}.
IN_ARRAYS = "in arrays"

# How names of arrays end that no byte can make unusable: they are not read when they are mapped.
ANY_BYTES = ".any"

# Class name in params.json -> module of the class. No other class is ever loaded.
SAVED_CLASSES = {
    "BRDT": "xmlcore.selection.decision_trees",
    "ChiSquaredSelection": "xmlcore.selection.rivals",
    "DoubleSampling": "xmlcore.models.double_sampling",
    "ExtendedPLT": "xmlcore.models.plt",
    "FALS": "xmlcore.selection.fals",
    "GradEnFSSelection": "xmlcore.selection.gradenfs",
    "LIFT": "xmlcore.selection.lift",
    "LassoSelection": "xmlcore.selection.rivals",
    "LdSM": "xmlcore.models.ldsm",
    "Mixture": "xmlcore.models.mixture",
    "MutualInformationSelection": "xmlcore.selection.rivals",
    "NearestRows": "xmlcore.models.nearest_rows",
    "OneVsRest": "xmlcore.models.one_vs_rest",
    "PLT": "xmlcore.models.plt",
    "RandomForestSelection": "xmlcore.selection.rivals",
    "TextClassifier": "xmlcore.models.text_classifier",
}


class ModelFormatError(ValueError):
    """The folder does not hold a model that this version can read.

    Whatever is wrong with the files of a model, :func:`xmlcore.load_model` raises this error or a subclass.
    """


class ModelNotFoundError(ModelFormatError, FileNotFoundError):
    """There is no model: the folder or the file does not exist, or a file is missing in the folder."""


def saved_class(name: str, where: str = "it holds") -> type:
    """Return a class of :data:`SAVED_CLASSES`; raise ModelFormatError for other names."""
    if not isinstance(name, str) or name not in SAVED_CLASSES:
        raise ModelFormatError(f"{where} a {name!r:.200}; known are {', '.join(sorted(SAVED_CLASSES))}")
    return getattr(import_module(SAVED_CLASSES[name]), name)


def write_model(model, path) -> Path:
    """Write a fitted model to the folder ``path``; see :meth:`xmlcore.models.base.MultiLabelModel.save`."""
    target = Path(path).resolve()
    if target.exists() and not _is_saved_model(target):
        raise FileExistsError(f"{target} exists and is not, or not only, a saved model: choose another place")
    values, arrays = model._whole_state()
    saved_params = getattr(model, "_saved_params", None)
    params, param_arrays = _separate(saved_params() if saved_params else model.get_params(deep=False))
    description = {
        "format": FORMAT_VERSION,
        "xmlcore": __version__,
        "class": type(model).__name__,
        "params": params,
        "values": values,
        "arrays": [*arrays, *param_arrays],
    }
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        description["feature_names"] = list(names)
    if hasattr(model, "label_names_"):
        description["label_names"] = _saved_names(model.label_names_)
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    old = folder.with_name(folder.name + ".old")
    try:
        os.chmod(folder, 0o755)  # mkdtemp makes folders that only their owner can read
        (folder / PARAMS_FILE).write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
        write_arrays(folder / ARRAYS_FILE, arrays | param_arrays)
        if target.exists():
            os.replace(target, old)
        os.replace(folder, target)
    except BaseException:
        if old.exists() and not target.exists():
            os.replace(old, target)
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
    return target


def _saved_names(names: list) -> list:
    """Return names of labels, or raise TypeError for the first that JSON would not give back as it is."""
    for i, name in enumerate(names):
        if not isinstance(name, (str, int, float, bool)) or isinstance(name, enum.Enum):
            raise TypeError(
                f"label_names_[{i}] is {name!r:.60}: only strings and numbers can be saved. Fit with names that are "
                "strings, or pickle the model"
            )
    return names


def _is_saved_model(folder: Path) -> bool:
    try:
        if {path.name for path in folder.iterdir()} != {PARAMS_FILE, ARRAYS_FILE}:
            return False
        description = json.loads((folder / PARAMS_FILE).read_text(encoding="utf-8"))
        return isinstance(description, dict) and {"format", "class", "params", "values"} <= description.keys()
    except (OSError, ValueError):
        return False


def read_folder(path, mmap: bool = False) -> "MultiLabelModel":  # noqa: F821
    """Read a model that :meth:`MultiLabelModel.save` wrote; with ``mmap``, its arrays are mapped."""
    # Nothing in the folder is executed: the class is looked up in a fixed list and arrays are read without pickle.
    folder = Path(path)
    for name in (PARAMS_FILE, ARRAYS_FILE):
        if not (folder / name).is_file():
            raise ModelNotFoundError(f"{folder} holds no model: {name} is missing")
    with _reading(folder / PARAMS_FILE):
        cls, params, values, names, label_names, of_arrays = _read_description(folder)
    with _reading(folder / ARRAYS_FILE):
        arrays = plain_arrays(folder / ARRAYS_FILE, mmap, ANY_BYTES)
        if missing := sorted(set(of_arrays) - set(arrays)):
            raise ModelFormatError(f"{folder / ARRAYS_FILE} lacks {', '.join(missing)}: save the model again")
    try:
        model = cls(**_joined(cls, params, arrays))
        model._check_params()
    except Exception as error:
        raise ModelFormatError(f"{folder / PARAMS_FILE} has an invalid parameter: {error}") from error
    with _reading(folder, f"{folder} cannot be read: "):
        model._set_state(values, arrays)
    for found, of, count in ((names, "feature", model.n_features_in_), (label_names, "label", model.n_labels_)):
        if found is not None and len(found) != count:
            raise ModelFormatError(
                f"{folder / PARAMS_FILE} has {len(found)} {of} names, but the model has {count} {of}s"
            )
    _, _, *of_rows = model._kept()
    model._keep(names, label_names, *of_rows)
    return model


def _read_description(folder: Path) -> tuple[type, dict, dict, np.ndarray | None, list | None, list[str]]:
    """Return the class, the parameters, the values, the names of features, of labels, and of arrays."""
    description = json.loads((folder / PARAMS_FILE).read_text(encoding="utf-8"))
    version, name = description["format"], description["class"]
    if version != FORMAT_VERSION:
        raise ModelFormatError(refusal(f"The model in {folder}", version, FORMAT_VERSION, description.get("xmlcore")))
    params, values, cls = dict(description["params"]), dict(description["values"]), saved_class(name, f"{folder} holds")
    unknown = set(params) - set(cls._param_names())
    if unknown:
        raise ModelFormatError(f"{folder / PARAMS_FILE} has unknown parameters of {name}: {sorted(unknown)}")
    names, of_arrays = description.get("feature_names"), description["arrays"]
    for found, of in ((names or [], "feature names"), (of_arrays, "names of arrays")):
        if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
            raise ModelFormatError(f"{folder / PARAMS_FILE} is damaged: {of} are not a list of strings")
    label_names = description.get("label_names")
    label_names = None if label_names is None else check_label_names(label_names)
    names = None if names is None else np.array(names, dtype=object)
    return cls, params, values, names, label_names, of_arrays


@contextmanager
def _reading(path: Path, where: str = ""):
    """Turn the exceptions of a part of reading a model into ModelFormatError; ``where`` begins those that are one."""
    # On damaged bytes the parsers of JSON, zip archives and arrays can raise nearly any exception, from RecursionError
    # to tokenize.TokenError. Each means that the model cannot be read.
    try:
        yield
    except ModelFormatError as error:
        raise ModelFormatError(f"{where}{error}") from error
    except Exception as error:
        raise ModelFormatError(f"{path} is damaged ({error!r:.200}): save the model again") from error


def under(prefix: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return arrays by names that begin with a prefix, so that they can be saved with others."""
    return {prefix + name: array for name, array in arrays.items()}


def below(prefix: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the arrays whose names begin with a prefix, by their names without it."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _separate(params: dict) -> tuple[dict, dict[str, np.ndarray]]:
    """Split parameters into values for JSON and arrays."""
    plain, arrays = {}, {}
    for name, value in params.items():
        if hasattr(value, "to_arrays"):
            plain[name] = {IN_ARRAYS: type(value).__name__}
            arrays |= under(f"params.{name}.", value.to_arrays())
        elif isinstance(value, np.ndarray):
            plain[name] = {IN_ARRAYS: "ndarray"}
            arrays[f"params.{name}.values"] = value
        else:
            plain[name] = wording.plain(value, _json_value)
    return plain, arrays


def _json_value(value):
    """Return a value that JSON can hold: fractions become floats, and what draws random numbers is left out."""
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return None
    return float(value) if isinstance(value, numbers.Real) and not isinstance(value, int) else value


def _joined(cls, params: dict, arrays: dict[str, np.ndarray]) -> dict:
    joined = dict(params)
    for name, value in params.items():
        if isinstance(value, dict) and isinstance(value.get(IN_ARRAYS), str):
            joined[name] = cls._param_from_arrays(below(f"params.{name}.", arrays))
    return joined


def parts_of_model(model) -> tuple[dict, dict[str, np.ndarray]]:
    """Return a fitted model that is saved inside another one, with its class: values for JSON, and arrays."""
    values, arrays = model._whole_state()
    settings, param_arrays = settings_of(model)
    return settings | {"values": values}, arrays | param_arrays


def settings_of(model) -> tuple[dict, dict[str, np.ndarray]]:
    """Return the class of a model and its parameters: values for JSON, and arrays."""
    params, arrays = _separate(model.get_params(deep=False))
    return {"class": type(model).__name__, "params": params}, arrays


def model_from_parts(description: dict, arrays: dict[str, np.ndarray]) -> "MultiLabelModel":  # noqa: F821
    """Return the fitted model that :func:`parts_of_model` described."""
    cls = saved_class(description["class"])
    model = cls(**_joined(cls, description["params"], arrays))
    model._check_params()
    model._set_state(description["values"], arrays)
    return model


def check_types(arrays, types):
    """Raise ModelFormatError unless all arrays are there and have their ``(type, shape or number of dimensions)``."""
    for name, (dtype, shape) in types.items():
        if name not in arrays:
            raise ModelFormatError(f"{name} is missing from its arrays: the file was damaged. Train it anew")
        array = arrays[name]
        if array.dtype != dtype or shape not in (array.shape, array.ndim):
            wanted = f"shape {shape}" if isinstance(shape, tuple) else f"{shape} dimensions"
            raise ModelFormatError(
                f"{name} in its arrays is {array.dtype} of shape {array.shape}, not {np.dtype(dtype)} of {wanted}"
            )


def check_parts(checks):
    """Raise ModelFormatError for the first part of a model whose check fails; each relies on those before it."""
    for part, holds in checks.items():
        if not holds():
            raise ModelFormatError(
                f"{part} in its arrays cannot be used: the file was damaged or written by something else"
            )


def check_columns(feature_of_column, n_features):
    """Raise ModelFormatError unless the array is int32 and holds ids below ``n_features``, each at most once."""
    check_types({"feature_of_column": feature_of_column}, {"feature_of_column": (np.int32, 1)})
    if not are_rising_lists(ONE_LIST, np.sort(feature_of_column), n_features):
        raise ModelFormatError(
            "the feature ids in its arrays are invalid: the file was damaged or written by something else"
        )
