"""Learn from documents that clients send, as Annif's REST interface has it: with a token, and a journal on disk."""

import copy
import hmac
import json
import os
import threading
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from starlette.requests import Request

from xmlcore.progress import Progress, silent
from xmlcore.serve.bodies import as_json, shown
from xmlcore.serve.limits import Refused
from xmlcore.serve.served import Served
from xmlcore.typing import FilePath


class Learner:
    """Has served models learn documents, and keeps these in a journal for each model.

    Parameters
    ----------
    token : str
        What requests must have in the header ``Authorization: Bearer TOKEN``.
    folder : str or path-like
        Where the journals are, ``NAME.jsonl``: a line of JSON for each request, on the disk before it is answered.
    """

    def __init__(self, token: str, folder: FilePath):
        if not token:
            raise ValueError("learning needs a token: clients without it are refused")
        self.expected, self.folder, self.lock = f"Bearer {token}".encode(), Path(folder), threading.Lock()
        self.folder.mkdir(parents=True, exist_ok=True)

    def check(self, request: Request) -> None:
        """Refuse a request without the token."""
        if not hmac.compare_digest(request.headers.get("authorization", "").encode("latin-1"), self.expected):
            raise Refused(401, "learning needs the token of this server, in the header Authorization: Bearer TOKEN")

    def after(self, served: Served) -> Served:
        """Return a model that has learnt its journal; a line that a killed process has not ended is dropped."""
        journal = self._journal(served)
        if not journal.exists():
            return served
        content = journal.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            os.truncate(journal, len(whole))
        for number, line in enumerate(whole.splitlines(), start=1):
            try:
                documents = [[str(text), [*map(str, uris)]] for text, uris in json.loads(line)]
            except (ValueError, TypeError):
                raise ValueError(f"{journal}, line {number}, has no documents: repair the line, or remove it") from None
            try:
                served = _taught(served, documents, silent)  # a line at a time, as they were learnt
            except Refused as error:
                raise ValueError(f"{journal}, line {number}: {error.reason}; move the file away to start") from None
        return served

    def learn(self, served: Served, documents: list, progress: Progress) -> Served:
        """Return a model that has learnt documents, which are then in its journal; a stopped request leaves none."""
        taught = _taught(served, documents, progress)
        taught.warm_up()
        progress("Writing the journal", 1.0)  # here stops whoever does not wait for the answer
        with open(self._journal(served), "ab", buffering=0) as journal:
            before, line = journal.tell(), json.dumps(documents).encode() + b"\n"
            try:
                while line:
                    line = line[journal.write(line) :]
                os.fsync(journal.fileno())
            except OSError:
                journal.truncate(before)  # else the next line would go on from the half of this one
                raise
        return taught

    def _journal(self, served) -> Path:
        return self.folder / f"{served.name}.jsonl"


def documents_of(body: bytes, limits) -> list[list]:
    """Return the documents of a request: pairs of a text and the URIs of its subjects."""
    given = as_json(body, limits, list)
    if not 0 < len(given) <= limits.rows:
        raise Refused(422, f"there are {len(given):,} documents: send 1 to {limits.rows:,}")
    return [_document(i, document) for i, document in enumerate(given)]


def _document(i, document) -> list:
    text, subjects = (document.get(name) if isinstance(document, dict) else None for name in ("text", "subjects"))
    uris = [s.get("uri") if isinstance(s, dict) else s for s in subjects] if isinstance(subjects, list) else [None]
    if not isinstance(text, str) or not all(isinstance(uri, str) and uri for uri in uris):
        raise Refused(422, f'document {i} is {shown(document)}, not {{"text": "...", "subjects": [{{"uri": "..."}}]}}')
    return [text, uris]


def _taught(served, documents, progress) -> Served:
    """Return a served model that has learnt documents; the one that is given stays as it is."""
    packed, model = served.packed, copy.copy(served.packed.model)
    if not packed.is_text or not hasattr(model, "partial_fit") or packed.vectorizer.widths_beside_:
        raise Refused(422, f"the model {served.name!r:.200} cannot learn texts")
    documents = [document for document in documents if document[1]]  # models learn nothing from rows without labels
    if not documents:
        return served
    known = {uri: j for j, (plain, _) in enumerate(served.subjects) for uri in (f"<{plain}>", plain)}
    names = getattr(model, "label_names_", None)
    new = next((uri for _, uris in documents for uri in uris if uri not in known), None)
    if names is None and new is not None:
        raise Refused(422, f"there is no subject {new!r:.200}, and labels of this model have no names to add one")
    labels = [[known[uri] if names is None else names[known[uri]] if uri in known else uri for uri in uris]
              for _, uris in documents]  # fmt: skip
    try:
        model.partial_fit(packed.vectorizer.transform([text for text, _ in documents]), labels, progress=progress)
    except (ValueError, ArithmeticError) as error:
        raise Refused(422, str(error)) from None
    packed = replace(packed, model=model, label_names=packed.label_names if names is None else None)
    return replace(served, packed=packed, modified=datetime.now(UTC))
