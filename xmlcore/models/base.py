"""What every estimator offers, and how it is saved: parameters as JSON, arrays as npz, never pickle."""

import inspect
import json
import numbers
import os
import shutil
import tempfile
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from xmlcore.models.label_tree import LabelTree
from xmlcore.parameters import Parameter, check_parameters
from xmlcore.validation import check_features, check_fitted

FORMAT_VERSION = 3
PARAMS_FILE = "params.json"
ARRAYS_FILE = "arrays.npz"

IN_ARRAYS = {"in arrays": "LabelTree"}  # in params.json, in place of a parameter that is a tree

# Class name in params.json -> module. Only these are ever loaded.
SAVED_CLASSES = {
    "DoubleSampling": "xmlcore.models.double_sampling",
    "ExtendedPLT": "xmlcore.models.extended_plt",
    "FALS": "xmlcore.selection.fals",
    "LdSM": "xmlcore.models.ldsm",
    "OneVsRest": "xmlcore.models.one_vs_rest",
    "PLT": "xmlcore.models.plt",
}


class ModelFormatError(ValueError):
    """A folder that does not hold a model this version can read."""


class MultiLabelModel:
    """Base of the estimators, which are scikit-learn's by what they offer, not by inheritance.

    To scikit-learn's tools they are multi-label classifiers. scikit-learn itself, with all that it imports half a
    second and 125 MiB, is loaded only by those who use it. When Y is lists of ids, its cross-validation needs a
    splitter, such as ``cv=KFold(5)``, where a number would do for a matrix.

    A subclass keeps the parameters of its ``__init__`` as attributes of the same names, checks them in
    ``_check_params``, sets ``n_features_in_`` and
    ``n_labels_`` in ``fit`` and offers ``predict_topk`` and ``predict_proba``; for saving, ``_state`` and
    ``_restore``.
    """

    PARAMETERS: tuple[Parameter, ...] = ()
    _estimator_type = "classifier"  # scikit-learn 1.5 reads this, later ones the tags

    @classmethod
    def _param_names(cls) -> list[str]:
        return sorted(p.name for p in cls.PARAMETERS) or sorted(inspect.signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict:
        """Return the parameters by name.

        Parameters
        ----------
        deep : bool
            As scikit-learn has it; without effect, as no parameter is an estimator.

        Returns
        -------
        dict
        """
        return {name: getattr(self, name) for name in self._param_names()}

    def set_params(self, **params):
        """Set parameters by name.

        Returns
        -------
        MultiLabelModel
            Itself.

        Raises
        ------
        ValueError
            There is no parameter of that name; the message has those that are, and none is set.
        """
        names = self._param_names()
        for name in params:
            if name not in names:
                raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {names!r}.")
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def __repr__(self):
        defaults = {p.name: p.default for p in self.PARAMETERS} or {
            name: p.default for name, p in inspect.signature(type(self)).parameters.items()
        }
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if repr(value) != repr(defaults[name])
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_html_(self) -> str:
        """What notebooks show: scikit-learn's diagram."""
        from sklearn.utils import estimator_html_repr

        return estimator_html_repr(self)

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type=self._estimator_type,
            target_tags=TargetTags(required=True, two_d_labels=True, single_output=False),
            transformer_tags=None,
            classifier_tags=ClassifierTags(multi_class=False, multi_label=True),
            regressor_tags=None,
            input_tags=InputTags(sparse=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    @property
    def classes_(self) -> np.ndarray:
        """Label ids, which scikit-learn's scorers ask for: ndarray of int64, shape (L,)."""
        self._check_fitted()
        return np.arange(self.n_labels_)

    def _run_rare_kernels(self, X):
        """Run the kernels that only large data reaches, on a few rows, for :func:`warm_up`."""

    def predict(self, X) -> sp.csr_array:
        """Labels of probability at least 0.5.

        Parameters
        ----------
        X : sparse or dense, shape (n, D)

        Returns
        -------
        scipy.sparse.csr_array of bool, shape (n, L)
        """
        return self.predict_proba(X, threshold=0.5).astype(bool)

    def _check_fitted(self):
        check_fitted(self)

    def _check_input(self, X) -> sp.csr_array:
        self._check_fitted()
        return check_features(X, self.n_features_in_)

    def _check_params(self) -> None:
        """Raise ValueError or TypeError, naming the parameter, when ``fit`` cannot use it.

        A subclass adds the checks that span two parameters.
        """
        check_parameters(self, self.PARAMETERS)

    def _state(self) -> tuple[dict, dict[str, np.ndarray]]:
        """Fitted state: JSON-able values and arrays, by name."""
        raise NotImplementedError(f"{type(self).__name__} cannot be saved")

    def _restore(self, values: dict, arrays: dict[str, np.ndarray]) -> None:
        """Take the fitted state back; raise ModelFormatError when it does not fit together."""
        raise NotImplementedError(f"{type(self).__name__} cannot be loaded")

    def save(self, path) -> Path:
        """Write the fitted model to a folder.

        Parameters
        ----------
        path : str or path-like
            The folder; made, or replaced when it holds a saved model and nothing else. It is written beside its place
            and moved there when it is whole.

        Returns
        -------
        pathlib.Path
            The folder: ``params.json`` and ``arrays.npz``.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        FileExistsError
            ``path`` is there and is more, or other, than a saved model.
        ValueError, TypeError
            A parameter was set, after ``fit``, to what ``load_model`` would refuse; the message names it.
        """
        self._check_fitted()
        self._check_params()
        target = Path(path).resolve()
        if target.exists() and not _is_saved_model(target):
            raise FileExistsError(f"{target} exists and is more than a saved model: choose another place")
        values, arrays = self._state()
        params, param_arrays = _separate(self.get_params(deep=False))
        description = {
            "format": FORMAT_VERSION,
            "class": type(self).__name__,
            "params": params,
            "values": values,
        }
        target.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
        old = folder.with_name(folder.name + ".old")
        try:
            os.chmod(folder, 0o755)  # mkdtemp makes it private
            (folder / PARAMS_FILE).write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")
            np.savez(folder / ARRAYS_FILE, **arrays, **param_arrays)
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


def _is_saved_model(folder: Path) -> bool:
    """Whether a folder holds a model of ours and nothing else."""
    try:
        if {path.name for path in folder.iterdir()} != {PARAMS_FILE, ARRAYS_FILE}:
            return False
        description = json.loads((folder / PARAMS_FILE).read_text(encoding="utf-8"))
        return isinstance(description, dict) and {"format", "class", "params", "values"} <= description.keys()
    except (OSError, ValueError):
        return False


def warm_up(model: MultiLabelModel) -> None:
    """Compile, or load, the kernels that a model of these parameters uses, by a fit on a few rows; takes no progress.

    Parameters
    ----------
    model : MultiLabelModel
        Stays as it is.
    """
    X = np.random.default_rng(0).random((20, 6)).astype(np.float32)
    Y = [[row % 5, 5 + row % 3] for row in range(20)]
    params = model.get_params(deep=False)
    small = {"arity": 2, "max_leaf_labels": 2, "tol": 1e6, "n_estimators": min(2, params.get("n_estimators", 1))}
    if isinstance(params.get("tree"), LabelTree):  # of other labels than the toy's
        small |= {"tree": LabelTree.from_nested([[0, 1, 2], [[3, 4], [5, 6]], 7])}
    toy = type(model)(**params | {name: value for name, value in small.items() if name in params})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the model's own fit will say it again
        toy.fit(X, Y)
    for rows in (X, np.where(np.arange(6) == 0, X, 0)):  # dense rows may have kernels of their own
        toy.predict_topk(rows, k=2)
        toy.predict_proba(rows, threshold=0.1)
    toy._run_rare_kernels(X)


def load_model(path) -> MultiLabelModel:
    """Read a model that :meth:`MultiLabelModel.save` wrote.

    Nothing in the folder is executed: the class is looked up in a fixed list and arrays are read without pickle.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    MultiLabelModel
        It predicts exactly as the saved one.

    Raises
    ------
    FileNotFoundError
        No such folder, or a file of it is missing.
    ModelFormatError
        Damaged, of an unknown class or of a newer format; the message says which.
    """
    folder = Path(path)
    for name in (PARAMS_FILE, ARRAYS_FILE):
        if not (folder / name).is_file():
            raise FileNotFoundError(f"{folder} holds no model: {name} is missing")
    # Damaged bytes make the parsers of JSON, zip archives and arrays raise nearly anything, from RecursionError to
    # tokenize.TokenError: whatever it is, the model cannot be read.
    try:
        cls, params, values = _read_description(folder)
    except ModelFormatError:
        raise
    except Exception as error:
        raise _damaged(folder / PARAMS_FILE, error) from error
    try:
        with np.load(folder / ARRAYS_FILE, allow_pickle=False) as stored:
            arrays = {key: stored[key] for key in stored.files}
        model = cls(**_joined(params, arrays))
    except Exception as error:
        raise _damaged(folder / ARRAYS_FILE, error) from error
    try:
        model._check_params()
    except Exception as error:
        raise ModelFormatError(f"{folder / PARAMS_FILE} has a parameter that cannot be: {error}") from error
    try:
        model._restore(values, arrays)
    except ModelFormatError:
        raise
    except Exception as error:
        raise _damaged(folder, error) from error
    return model


def _read_description(folder: Path) -> tuple[type, dict, dict]:
    """The class, the parameters and the values in ``params.json``."""
    description = json.loads((folder / PARAMS_FILE).read_text(encoding="utf-8"))
    version, name = description["format"], description["class"]
    if version != FORMAT_VERSION:
        raise ModelFormatError(f"{folder} has model format {version}; this version of xmlcore reads {FORMAT_VERSION}")
    if not isinstance(name, str) or name not in SAVED_CLASSES:
        raise ModelFormatError(f"{folder} holds a {name!r}; known are {', '.join(sorted(SAVED_CLASSES))}")
    params, values = dict(description["params"]), dict(description["values"])
    cls = getattr(import_module(SAVED_CLASSES[name]), name)
    unknown = set(params) - set(cls._param_names())
    if unknown:
        raise ModelFormatError(f"{folder / PARAMS_FILE} has unknown parameters of {name}: {sorted(unknown)}")
    return cls, params, values


def _damaged(path: Path, error: Exception) -> ModelFormatError:
    return ModelFormatError(f"{path} is damaged ({error!r}): save the model again")


def _separate(params: dict) -> tuple[dict, dict[str, np.ndarray]]:
    """Parameters as JSON, and the arrays of those that are trees."""
    plain, arrays = {}, {}
    for name, value in params.items():
        if isinstance(value, LabelTree):
            plain[name] = IN_ARRAYS
            arrays |= {f"params.{name}.parent": value.parent, f"params.{name}.label": value.label}
        else:
            plain[name] = _plain(value)
    return plain, arrays


def _plain(value):
    """A value as JSON has it: fractions, and NumPy's numbers, as plain ones."""
    value = value.item() if isinstance(value, np.generic) else value
    return float(value) if isinstance(value, numbers.Real) and not isinstance(value, int) else value


def _joined(params: dict, arrays: dict[str, np.ndarray]) -> dict:
    """Inverse of :func:`_separate`."""
    return {
        name: LabelTree(arrays[f"params.{name}.parent"], arrays[f"params.{name}.label"])
        if value == IN_ARRAYS
        else value
        for name, value in params.items()
    }


def check_columns(feature_of_column, n_features):
    """Raise ModelFormatError unless these are features, each once."""
    ids = feature_of_column
    if ids.ndim != 1 or ids.dtype != np.int32:
        raise ModelFormatError(
            f"feature_of_column in its arrays is {ids.dtype} with {ids.ndim} dimensions, not int32 with 1"
        )
    if ids.size and (ids.min() < 0 or ids.max() >= n_features or np.unique(ids).size < ids.size):
        raise ModelFormatError(
            "the features in its arrays cannot be: the file was damaged or written by something else"
        )
