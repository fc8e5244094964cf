"""The part of Annif's REST interface that its http backend uses, so that Annif can use a served model as a backend.

See https://github.com/NatLibFi/Annif/wiki/Backend:-HTTP
"""

from urllib.parse import unquote_to_bytes

import numpy as np

from xmlcore.serve.bodies import allowed, as_json, count_of, finite_number, shown
from xmlcore.serve.limits import Refused

LIMIT = 10  # suggestions if a request does not say how many, as Annif's
MOST_FIELDS = 100  # of a form
PIECE = 1 << 16  # bytes of a form that are decoded at a time
_RULES = ("exclude", "include")  # of a vocabulary in Annif's configuration: URIs with | between them, or *
_FIELDS = ("text", "limit", "threshold", *_RULES)


def project(served) -> dict:
    return {
        "project_id": served.name,
        "name": served.about()["title"],
        "backend": {"backend_id": "xmlcore"},
        "is_trained": True,
        "modification_time": served.modified.isoformat(),
    }


def asked(body: bytes, kind: str, served, limits, address) -> tuple[str, int, float, np.ndarray | None]:
    """Return the text, the limit, the threshold and the allowed labels of a request: a form, or a JSON object.

    Rules for labels can stand in the query of the address, too, which Annif's configuration has.
    """
    if not served.packed.is_text:
        raise Refused(422, f"the model {served.name!r:.200} takes rows of features, not texts")
    if served.packed.vectorizer.widths_beside_:
        raise Refused(422, f"the model {served.name!r:.200} takes vectors beside texts, which Annif does not send")
    if kind == "application/json":
        given = as_json(body, limits)
        if not isinstance(given.get("text", ""), str):
            raise Refused(422, "text must be a text")
        given = {
            name: value if isinstance(value, str) else shown(value) for name, value in given.items() if name in _FIELDS
        }
    elif kind == "application/x-www-form-urlencoded":
        try:
            given = _form(body)
        except ValueError as error:
            raise Refused(400, f"the body is no form: {error}") from None
    else:
        raise Refused(415, "send the fields text and limit as application/x-www-form-urlencoded or application/json")
    if "text" not in given:
        raise Refused(422, "the field text is missing")
    limit = given.get("limit", str(LIMIT))
    limit = count_of(int(limit) if limit.isdecimal() and len(limit) < 20 else limit, "limit", limits.k)
    rules = {name: {*given.get(name, address.get(name, "")).split("|")} - {""} for name in _RULES}
    return given["text"], limit, finite_number(given.get("threshold", "0"), "threshold"), _allowed(served, **rules)


def _allowed(served, exclude, include) -> np.ndarray | None:
    """Return which labels may be suggested, by the rules of Annif's vocabularies; None: all."""
    if not exclude:
        return allowed(served)
    left_out = [("*" in exclude or uri in exclude) and uri not in include for uri, _ in served.subjects]
    return allowed(served, exclude=np.array(left_out))


def _form(body: bytes) -> dict[str, str]:
    """Return the fields of a form; of several of one name, the last one."""
    if body.count(b"&") >= MOST_FIELDS:
        raise ValueError(f"it has more than {MOST_FIELDS} fields")
    fields = (field.partition(b"=") for field in body.split(b"&"))
    return {_unquoted(name): _unquoted(value) for name, _, value in fields}


def _unquoted(text: bytes) -> str:
    """Decode a part of a form, in pieces: in one call, no other request would be answered meanwhile."""
    text, found, at = text.replace(b"+", b" "), [], 0
    while at < len(text):
        end = at + PIECE
        escape = text.rfind(b"%", end - 2, end)  # it goes on after the end
        end = escape if escape >= 0 else end
        found.append(unquote_to_bytes(text[at:end]))
        at = end
    return b"".join(found).decode()


def suggestions(text: str, limit: int, threshold: float, allowed, served, predict) -> dict:
    """Return Annif's answer for a text: subjects with scores above 0 and at least the threshold, best first."""
    rows = served.packed.rows([text])
    if not rows.nnz:
        return {"results": []}
    labels, scores = predict(rows, limit, allowed)
    found = []
    for j, score in zip(labels[0].tolist(), scores[0].tolist()):
        if j >= 0 and score > 0 and score >= threshold:
            uri, words = served.subjects[j]
            found.append({"uri": uri, "label": words, "notation": None, "score": score})
    return {"results": found}
