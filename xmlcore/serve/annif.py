"""The part of Annif's REST interface that its http backend uses, so that Annif can use a served model as a backend.

See https://github.com/NatLibFi/Annif/wiki/Backend:-HTTP
"""

from urllib.parse import unquote_to_bytes

from xmlcore.serve.bodies import as_json, count_of, finite_number, shown
from xmlcore.serve.limits import Refused

LIMIT = 10  # suggestions if a request does not say how many, as Annif's
MOST_FIELDS = 100  # of a form
PIECE = 1 << 16  # bytes of a form that are decoded at a time
_FIELDS = ("text", "limit", "threshold")


def project(served) -> dict:
    return {
        "project_id": served.name,
        "name": served.about()["title"],
        "backend": {"backend_id": "xmlcore"},
        "is_trained": True,
        "modification_time": served.modified.isoformat(),
    }


def asked(body: bytes, kind: str, served, limits) -> tuple[str, int, float]:
    """Return the text, the limit and the threshold of a request for suggestions: a form, or a JSON object."""
    if not served.packed.is_text:
        raise Refused(422, f"the model {served.name!r:.200} takes rows of features, not texts")
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
    return given["text"], limit, finite_number(given.get("threshold", "0"), "threshold")


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


def suggestions(text: str, limit: int, threshold: float, served, predict) -> dict:
    """Return Annif's answer for a text: subjects with scores above 0 and at least the threshold, best first."""
    rows = served.packed.rows([text])
    if not rows.nnz:
        return {"results": []}
    labels, scores = predict(rows, limit)
    found = []
    for j, score in zip(labels[0].tolist(), scores[0].tolist()):
        if j >= 0 and score > 0 and score >= threshold:
            uri, words = served.subjects[j]
            found.append({"uri": uri, "label": words, "notation": None, "score": score})
    return {"results": found}
