"""A model that is served, with what is looked up for each request and made once."""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from xmlcore.models import PackedModel, read_packed
from xmlcore.models.rules import Watch, decision_of, drift_told
from xmlcore.typing import FilePath

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

    Raises
    ------
    ValueError
        The name cannot stand in an address.
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

        Returns
        -------
        Served

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
        """What the rows were like for which the model has decided last."""
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
        """Do what the first request would wait for: compile or load kernels, and make the tables of names."""
        packed = self.packed
        self.feature_ids, self.subjects, self.lately  # noqa: B018
        packed.predict_topk(["warm up"] if packed.is_text else sp.csr_array((1, packed.n_features), dtype="f4"), k=1)

    def about(self) -> dict[str, Any]:
        """Return what a list of models says of it.

        Returns
        -------
        dict
            "name", "title", what it "takes", the numbers of "features" and "labels", its "decision", and when it was
            "made". Of a model that keeps a decision also "drift": for how many of the last "rows" it has decided, and
            the p-value "p" of :meth:`xmlcore.decisions.Rule.drift`, which is None for fewer than 100.
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
        return about if drift is None else about | {"drift": drift}
