"""The command lines that serve a model and ask it."""

import json
import shlex

import numpy as np
import scipy.sparse as sp

from xmlcore.models import PackedModel
from xmlcore.models.rules import innermost
from xmlcore.typing import Matrix
from xmlcore.validation import check_count, check_features

LONGEST_TEXT = 300  # characters of a text in a command line
MOST_VALUES = 50  # features of a row in a command line: those of the largest absolute values


def commands(packed: PackedModel, asked: str | Matrix | None, path: str = "model.zip", k: int = 5) -> str:
    """Return the lines for a POSIX shell that serve a packed model, and ask it for k labels of a text or a row.

    A model with a kept decision is asked for the labels that it predicts, however many these are.
    A text is cut after 300 characters, and of a row the 50 largest values are sent: a comment says so. Without
    ``asked`` an example is asked. ValueError if a model that takes rows only is asked for a text.
    """
    k = check_count(k, "k")
    serve = f"xmlcore serve {shlex.quote(path)}"
    if asked is None:
        few = min(packed.n_features, 3)
        row = sp.csr_array((np.ones(few, np.float32), range(few), [0, few]), shape=(1, packed.n_features))
        values = _values(packed, row)
        body: dict[str, object] = {"text": " ".join(values)} if packed.is_text else {"row": values}
        cut = "\n# an example: write what you want to ask in its place"
    elif isinstance(asked, str):
        if not packed.is_text:
            raise ValueError("the model takes rows of features, not texts")
        body = {"text": asked[:LONGEST_TEXT].encode(errors="replace").decode()}
        cut = f"\n# its first {LONGEST_TEXT:,} characters" if len(asked) > LONGEST_TEXT else ""
    else:
        row = check_features(asked, packed.n_features)[[0]]
        body = {"row": _values(packed, row)}
        cut = f"\n# its {MOST_VALUES} largest of {row.nnz:,} values" if row.nnz > MOST_VALUES else ""
    body |= {"k": k} if innermost(packed.model).rule_ is None else {"decided": True}
    sent = json.dumps(body, ensure_ascii=False)
    sent = sent if sent.isprintable() else json.dumps(body)
    header = "-H 'Content-Type: application/json'"
    return f"{serve}{cut}\ncurl http://127.0.0.1:8000/predict {header} -d {shlex.quote(sent)}"


def _values(packed, row) -> dict[str, float]:
    """Return the largest values of a row by the names of features; by ids where names are not unique."""
    largest = np.sort(np.argsort(-np.abs(row.data), kind="stable")[:MOST_VALUES])
    ids, names = row.indices[largest].tolist(), packed.feature_names
    last = {} if names is None else {name: j for j, name in enumerate(names)}
    keys = [names[j] if names is not None and last[names[j]] == j else str(j) for j in ids]
    return {key: float(str(value)) for key, value in zip(keys, row.data[largest])}
