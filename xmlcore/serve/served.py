"""A served model with its lookup tables, and the command lines that ask it."""

import json
import re
import shlex
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from xmlcore.models import PackedModel, read_packed
from xmlcore.models.rules import Watch, decision_of, drift_told, innermost
from xmlcore.typing import FilePath, Matrix
from xmlcore.validation import check_count, check_features
from xmlcore.wording import COMMAND

LONGEST_TEXT = 300  # characters of a text in a command line
MOST_VALUES = 50  # features of a row in a command line: those of the largest absolute values
LATELY = 1000  # rows of requests of which the numbers are kept that tell drift
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_URI = re.compile(r"<?([A-Za-z][A-Za-z0-9+.-]*:[^\s<>]+)>?")


@dataclass(frozen=True)
class Served:
    """A model behind a URL.

    Parameters
    ----------
    name : str
        Its name in addresses: letters, digits, dots, hyphens and underscores.
    packed : PackedModel
    modified : datetime
        When the model was made.
    titles : dict of str to str
        Words for labels whose names are URIs, or URIs for labels whose names are words: the subjects of a vocabulary,
        by their URIs.
    """

    name: str
    packed: PackedModel
    modified: datetime = field(default_factory=lambda: datetime.now(UTC))
    titles: dict[str, str] = field(default_factory=dict)

    def __post_init__(self):
        if not _NAME.fullmatch(self.name):
            raise ValueError(
                f"{self.name!r:.200} cannot be the name of a served model: use letters, digits, dots, hyphens and "
                "underscores, as in NAME=PATH"
            )

    @classmethod
    def read(cls, path: FilePath, name: str | None = None, titles: dict[str, str] | None = None) -> "Served":
        """Read a packed or saved model.

        Parameters
        ----------
        path : str or path-like
            The zip file or the folder.
        name : str, optional
            By default the name of the file without its ending; other characters than those allowed become hyphens.
        titles : dict, optional
            See :class:`Served`.

        Raises
        ------
        FileNotFoundError, ModelFormatError
            See :func:`xmlcore.models.read_packed`.
        """
        packed = read_packed(path, mmap=True)
        path = Path(path)
        if name is None:
            stem = path.name if path.is_dir() else path.stem
            name = re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-._") or "model"
        return cls(name[:100], packed, datetime.fromtimestamp(path.stat().st_mtime, UTC), titles or {})

    @cached_property
    def lately(self) -> Watch:
        """The rows for which the model has decided last, for the test of drift."""
        return Watch(LATELY)

    @cached_property
    def feature_ids(self) -> dict[str, int]:
        """Ids of features by name; empty if they have no names."""
        return {name: j for j, name in enumerate(self.packed.feature_names or ())}

    @cached_property
    def subjects(self) -> list[tuple[str, str]]:
        """URI and words of each label, in the order of ids."""
        uri_of = {words: uri for uri, words in self.titles.items()}
        return [self._subject(self.packed.label_name(j), uri_of) for j in range(self.packed.n_labels)]

    def _subject(self, name, uri_of):
        """Return the URI and the words of a label; a label without a URI has its name for both."""
        found = _URI.fullmatch(name)
        if found and name not in uri_of:
            return found[1], self.titles.get(found[1], found[1])
        return uri_of.get(name, name), name

    def warm_up(self) -> None:
        """Prepare for the first request: compile or load kernels, and make the tables of names."""
        packed = self.packed
        self.feature_ids, self.subjects, self.lately  # noqa: B018
        row = sp.csr_array((1, packed.n_features), dtype="f4")
        packed.predict_topk(packed.vectorizer.without_vectors(["warm up"]) if packed.is_text else row, k=1)

    def about(self) -> dict[str, Any]:
        """Return its entry in a list of models.

        Returns
        -------
        dict
            "name", "title", what it "takes", the numbers of "features" and "labels", its "decision", and when it was
            "made". Of a model that takes "vectors" beside texts also how many numbers they have. Of one that keeps a
            decision also "drift": for how many of the last "rows" it has decided, and the p-value "p" of
            :meth:`xmlcore.decisions.Rule.drift`, which is None for fewer than 100.
        """
        packed, drift = self.packed, drift_told(self.packed.model, self.lately)
        about = {
            "name": self.name,
            "title": str(packed.card.get("name") or packed.card["model"])[:200],
            "takes": "texts" if packed.is_text else "rows",
            "features": packed.n_features,
            "labels": packed.n_labels,
            "decision": decision_of(packed.model),
            "made": self.modified.isoformat(),
        }
        beside = sum(getattr(packed.vectorizer, "widths_beside_", ()))
        about |= {"vectors": beside} if beside else {}
        return about if drift is None else about | {"drift": drift}


def commands(packed: PackedModel, asked: str | Matrix | None, path: str = "model.zip", k: int = 5) -> str:
    """Return the lines for a POSIX shell that serve a packed model, and ask it for k labels of a text or a row.

    A model with a kept decision is asked for the labels that it predicts, however many these are.
    A text is cut after 300 characters, and of a row the 50 largest values are sent: a comment says so. Without
    ``asked`` an example is asked. ValueError if a model that takes rows only is asked for a text.
    """
    k = check_count(k, "k")
    serve = f"{COMMAND} serve {shlex.quote(path)}"
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
    if "text" in body and (beside := sum(packed.vectorizer.widths_beside_)):
        body["vectors"], cut = [[0] * beside], f"{cut}\n# its vector has zeros: write your own in their place"
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
