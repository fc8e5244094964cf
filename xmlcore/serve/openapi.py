"""The addresses, requests and answers in the form that tools read: ``GET /openapi.json``."""

from typing import Any

from xmlcore import __version__

_FEATURES = {
    "description": "Values by the names or ids of features, or a list with the value of each feature.",
    "example": {"weight": 0.5},
    "anyOf": [
        {"type": "object", "additionalProperties": {"type": "number"}},
        {"type": "array", "items": {"type": "number"}},
    ],
}
_LABEL = {
    "type": "object",
    "required": ["label", "id", "score"],
    "properties": {"label": {"type": "string"}, "id": {"type": "integer"}, "score": {"type": "number"}},
}
_LABELS = {"type": "array", "items": _LABEL, "description": "Best label first."}
_SAID = {"type": "array", "items": {"type": ["string", "integer"]}}
INPUTS, LABELS = ("text", "texts", "row", "rows"), ("labels", "exclude")  # a request has one of the first
ASKED = {
    "text": {"type": "string"},
    "texts": {"type": "array", "items": {"type": "string"}},
    "vectors": {"type": "array", "items": {"type": "array", "items": {"type": "number"}},
                "description": "A list of numbers beside each text, for a model that was trained with such."},
    "row": _FEATURES,
    "rows": {"type": "array", "items": _FEATURES},
    "k": {"type": "integer", "minimum": 1, "description": "Most labels: 5, or all decided ones."},
    "threshold": {"type": "number", "minimum": 0, "maximum": 1, "description": "Leaves out smaller scores."},
    "decided": {"type": "boolean", "description": "Whether the model decides: so if it can, without k and threshold."},
    "labels": _SAID | {"description": "Names or ids of the labels that may be predicted; without it all."},
    "exclude": _SAID | {"description": "Names or ids of labels that may not be predicted."},
    "unknown": {"enum": ["error", "ignore"], "description": "What becomes of features that the model does not know."},
}  # fmt: skip
_ANSWER = {
    "model": {"type": "string"},
    "predictions": {"type": "array", "items": _LABELS, "description": "For each text or row."},
    "decided": {"type": "boolean", "description": "Whether the model decided, or the labels are the best by score."},
    "nothing_known": {"type": "array", "items": {"type": "integer"}, "description": "Texts without a known word."},
    "unknown": {"type": "array", "description": "The unknown features of each row, if they are ignored."},
}
_SUBJECTS = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["uri"],
        "properties": {"uri": {"type": "string"}, "label": {"type": "string"}},
    },
}
_DOCUMENT = {
    "type": "object",
    "required": ["text", "subjects"],
    "properties": {"text": {"type": "string"}, "subjects": _SUBJECTS},
}
_REFUSALS = {
    "400": "No JSON.",
    "404": "No such model.",
    "408": "The body did not arrive in time.",
    "413": "Too many bytes, texts or rows.",
    "415": "No application/json.",
    "422": "It does not fit the model.",
    "503": "Too many requests wait, or this one took too long: try again.",
}


def description(models, limits, learns=False) -> dict[str, Any]:
    """Return the description of a server of these models in the form of OpenAPI 3.1."""
    asked = ASKED | {"k": ASKED["k"] | {"maximum": limits.k}}
    asked |= {name: ASKED[name] | {"minItems": 1, "maxItems": limits.rows} for name in ("texts", "rows")}
    name = {"name": "name", "in": "path", "required": True, "schema": {"enum": [*models]}}
    error = _content({"error": {"type": "string"}}, required=["error"])
    refused = {status: _described(why, error) for status, why in _REFUSALS.items()}
    asking = {
        "summary": "Labels of one text, several texts, one row or several rows",
        "requestBody": {"required": True, **_content(asked, oneOf=[{"required": [name]} for name in INPUTS])},
        "responses": {"200": _described("The labels.", _content(_ANSWER, required=["model", "predictions"]))} | refused,
    }
    paths = {
        "/health": _get("Whether the server runs"),
        "/ready": _get("Whether it takes a further request", refusals={"503": "It does not: too many wait."}),
        "/metrics": _get("Numbers for Prometheus", "text/plain"),
        "/v1/models": _get("The models"),
        "/v1/models/{name}": {"parameters": [name], **_get("A model and its card")},
        "/v1/models/{name}/predict": {"parameters": [name], "post": asking},
    }
    if learns:
        documents = {"schema": {"type": "array", "items": _DOCUMENT, "minItems": 1, "maxItems": limits.rows}}
        no_token = _described("No token in the header Authorization: Bearer TOKEN.", error)
        learning = {
            "summary": "Have a model learn documents, which are kept",
            "requestBody": {"required": True, "content": {"application/json": documents}},
            "responses": {"204": _described("They are learnt.", {}), "401": no_token} | refused,
        }
        paths["/v1/projects/{name}/learn"] = {"parameters": [name], "post": learning}
    return {"openapi": "3.1.0", "info": {"title": "xmlcore", "version": __version__}, "paths": paths}


def _content(properties, **more):
    return {"content": {"application/json": {"schema": {"type": "object", "properties": properties} | more}}}


def _described(text, content):
    return {"description": text} | content


def _get(summary, media_type="application/json", refusals=None):
    answers = {"200": summary} | (refusals or {})
    content = {"content": {media_type: {}}}
    responses = {status: _described(text, content) for status, text in answers.items()}
    return {"get": {"summary": summary, "responses": responses}}
