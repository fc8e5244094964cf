"""Bodies of requests: read within bounds, and turned into texts or rows, or refused with a reason."""

import json
import math
from functools import partial

import anyio
import numpy as np
import scipy.sparse as sp

from xmlcore.arrays import are_blocks, columns_of_blocks
from xmlcore.serve.limits import LARGE_BYTES, Refused
from xmlcore.serve.openapi import ASKED, INPUTS, LABELS

_MOST = float(np.finfo(np.float32).max)
CONTAINERS_PER_ROW = 10  # lists and objects that a large body may have for each row that a request may have
LARGE_TOGETHER = 16  # of the largest bodies that are taken: what may be arriving in large ones at the same time
_LISTED = 5  # names that a message lists


class Arriving:
    """Reads the bodies of requests within bounds: of each, and of all large ones that are arriving together."""

    def __init__(self, limits):
        self.limits, self.large = limits, 0

    async def read(self, request) -> bytes:
        """Return a body; refuse one that is too large, compressed, or takes too long to arrive."""
        limits = self.limits
        too_large = Refused(413, f"the body has more than {limits.bytes:,} bytes: send fewer texts or rows at a time")
        if request.headers.get("content-encoding", "identity").lower() != "identity":
            raise Refused(415, "the body is compressed: send it as it is")
        stated = request.headers.get("content-length", "")
        if stated.isdecimal() and int(stated[:20]) > limits.bytes:
            raise too_large
        body, counted = bytearray(), 0
        try:
            with anyio.fail_after(limits.seconds):
                async for piece in request.stream():
                    body += piece
                    if len(body) > limits.bytes:
                        raise too_large
                    if len(body) > LARGE_BYTES:
                        self.large += len(body) - counted
                        counted = len(body)
                        if self.large > LARGE_TOGETHER * limits.bytes:
                            raise Refused(503, "too many large requests are arriving: try again in a moment")
        except TimeoutError:
            raise Refused(408, f"the body did not arrive within {limits.seconds} seconds") from None
        finally:
            self.large -= counted
        return bytes(body)


def media_type(request) -> str:
    return request.headers.get("content-type", "").split(";")[0].strip().lower()


def as_json(body: bytes, limits, of: type = dict):
    """Return what a body says, an object or a list."""
    try:
        text = body.decode("utf-8-sig")
        if len(body) > LARGE_BYTES:
            given = _InPieces(CONTAINERS_PER_ROW * limits.rows).decode(text)
        else:
            given = json.loads(text, parse_constant=_no_constant)
        if b"\\u" in body:  # half of a character, alone, is no text
            json.dumps(given, ensure_ascii=False).encode()
    except Refused:
        raise
    except (ValueError, RecursionError) as error:
        problem = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise Refused(400, f"the body is no JSON: {problem}") from None
    if not isinstance(given, of):
        wanted = 'an object, such as {"texts": ["..."]}' if of is dict else "a list of documents"
        raise Refused(422, f"the body is {_kind(given)}: send {wanted}")
    return given


class _InPieces(json.JSONDecoder):
    """Reads JSON in Python, value by value, so that other threads run; it limits lists and objects."""

    def __init__(self, most):
        super().__init__(parse_constant=_no_constant)
        self.parse_array = self._counted(json.decoder.JSONArray)
        self.parse_object = self._counted(json.decoder.JSONObject)
        self.scan_once = json.scanner.py_make_scanner(self)
        self.left = self.most = most

    def _counted(self, parse):
        def counted(*arguments):
            self.left -= 1
            if self.left < 0:
                raise Refused(413, f"the body has more than {self.most:,} lists and objects: send fewer rows at a time")
            return parse(*arguments)

        return counted


def _no_constant(name):
    """Refuse NaN and Infinity, which are not JSON, although Python reads them."""
    raise Refused(400, f"the body is no JSON: {name} is not allowed")


def _kind(value) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


def shown(value) -> str:
    """Return a value as JSON; lists and objects, which can have millions of values, by their kind."""
    if isinstance(value, str):
        return f"the text {json.dumps(value[:100], ensure_ascii=False)}"
    return _kind(value) if isinstance(value, (list, dict)) else json.dumps(value)[:100]


def asked(given: dict, served, limits):
    """Return the texts or rows of a request, k, the threshold, the unknown features of rows if they are ignored,
    whether the model decides, and which labels may be predicted.
    """
    name, values = _inputs(given, served, limits)
    unknown, threshold = given.get("unknown", "error"), given.get("threshold", 0)
    keeps = served.packed.model.rule_ is not None  # a decision, which counts unless a ranking is asked for
    decided = given.get("decided", keeps and given.keys().isdisjoint(("k", "threshold")))
    _must_be('"error" or "ignore"', "unknown", unknown, unknown in ("error", "ignore"))
    _must_be("true or false", "decided", decided, isinstance(decided, bool))
    k = None if decided and "k" not in given else count_of(given.get("k", 5), "k", limits.k)
    _must_be("a number from 0 to 1", "threshold", threshold, _is_number(threshold) and 0 <= threshold <= 1)
    if decided and "threshold" in given:
        raise Refused(422, "send either threshold or decided: a decision has a threshold of its own")
    said = allowed(served, *(_labels(given, field) for field in LABELS))
    if not name.startswith("text"):
        _must_be("left out, as they stand beside texts", "vectors", given.get("vectors"), "vectors" not in given)
        ignore = unknown == "ignore"
        X, strange = _rows(values, name, served, ignore)
        return X, k, threshold, strange if ignore else None, decided, said
    for i, text in enumerate(values):
        if not isinstance(text, str):
            raise Refused(422, f"{_place(name, i)} is {_kind(text)}, not a text")
    return _with_vectors(given, values, served), k, threshold, None, decided, said


def _with_vectors(given, texts, served):
    """Return texts, in a list with the vectors beside them if the model takes such."""
    widths, value = served.packed.vectorizer.widths_beside_, given.get("vectors")
    if not widths:
        _must_be("left out, as the model takes texts alone", "vectors", value, value is None)
        return texts
    fits = isinstance(value, list) and len(value) == len(texts) and all(map(partial(_is_vector, sum(widths)), value))
    _must_be(f"a list of {sum(widths):,} finite numbers for each text, in a list", "vectors", value, fits)
    return [texts, *columns_of_blocks(np.array(value, np.float32), widths)]


def _is_vector(width, value) -> bool:
    fits = isinstance(value, list) and len(value) == width
    return fits and all(_is_number(number) and abs(number) <= _MOST for number in value)


def _labels(given, field):
    value = given.get(field)
    are_labels = isinstance(value, list) and value and all(type(item) in (str, int) for item in value)
    _must_be("a list of names and ids of labels", field, value, value is None or are_labels)
    return value


def allowed(served, labels=None, exclude=None) -> np.ndarray | None:
    """Return which labels may be predicted, as a request and a kept decision have it; None: all."""
    try:
        return served.packed.allowed(labels, exclude)
    except ValueError as error:
        raise Refused(422, str(error)) from None


def _inputs(given, served, limits):
    """Return which of the fields for inputs a request has, and its values as a list."""
    strange = next((name for name in given if name not in ASKED), None)
    if strange is not None:
        raise Refused(422, f"there is no field {strange[:100]!r}: send {', '.join(ASKED)}")
    found = [name for name in INPUTS if name in given]
    if len(found) != 1:
        have = " and ".join(found) or "none of them"
        raise Refused(422, f"send one of text, texts, row and rows; the body has {have}")
    name, value = found[0], given[found[0]]
    if name.startswith("text") and not served.packed.is_text:
        raise Refused(422, f"the model {served.name!r:.200} takes rows of features, not texts: send row or rows")
    values = [value] if name in ("text", "row") else value
    if not isinstance(values, list) or not values:
        wrong = "an empty list" if values == [] else _kind(values)
        raise Refused(422, f"{name} is {wrong}: send a list with at least one")
    if len(values) > limits.rows:
        raise Refused(413, f"{name} has {len(values):,} items; at most {limits.rows:,} are taken in a request")
    return name, values


def _must_be(wanted, name, value, is_so):
    if not is_so:
        found = "this one" if isinstance(value, list) and wanted.startswith("a list") else shown(value)
        raise Refused(422, f"{name} must be {wanted}, not {found}")


def _is_number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def count_rows(inputs) -> int:
    inputs = inputs[0] if are_blocks(inputs) else inputs
    return len(inputs) if isinstance(inputs, list) else inputs.shape[0]


def count_of(value, name: str, most: int) -> int:
    is_count = _is_number(value) and isinstance(value, int) and 1 <= value <= most
    _must_be(f"a whole number from 1 to {most:,}", name, value, is_count)
    return value


def _place(name, i) -> str:
    """Return the name of an item of a request: ``rows[3]``, or ``row`` if only one is sent."""
    return f"{name}[{i}]" if name.endswith("s") else name


def _rows(records, name, served, ignore):
    """Return rows of features from objects of values by name or id, or lists of all, and the unknown names of each."""
    ids, values, ends, unknown = [], [], [0], []
    for i, record in enumerate(records):
        place = _place(name, i)
        found, strange = _entries(record, place, served)
        if strange and not ignore:
            listed = ", ".join(repr(one[:50]) for one in strange[:_LISTED])
            more = f" and {len(strange) - _LISTED:,} more" if len(strange) > _LISTED else ""
            remedy = 'send "unknown": "ignore" to leave them out' if served.feature_ids else "use the ids of features"
            raise Refused(422, f"{place} has features that the model does not know: {listed}{more}; {remedy}")
        own = [j for j, _ in found]
        if len(set(own)) < len(own):
            raise Refused(422, f"{place} has a feature twice, by its name and by its id")
        ids += own
        values += [value for _, value in found]
        ends.append(len(ids))
        unknown.append(strange)
    parts = np.array(values, np.float32), np.array(ids, np.int32), np.array(ends, np.int32)
    X = sp.csr_array(parts, shape=(len(records), served.packed.n_features))
    X.sort_indices()
    X.eliminate_zeros()
    return X, unknown


def _entries(record, place, served):
    """Return pairs of a feature's id and its value, and the names that the model does not know, of a record."""
    n_features, found, strange = served.packed.n_features, [], []
    if not isinstance(record, (dict, list)):
        raise Refused(422, f'{place} is {_kind(record)}: send an object, such as {{"feature": 1.0}}, or a list')
    if isinstance(record, list) and len(record) != n_features:
        raise Refused(422, f"{place} has {len(record):,} values: send one for each of the {n_features:,} features")
    for key, value in enumerate(record) if isinstance(record, list) else record.items():
        j = key if isinstance(record, list) else _feature_id(key, place, served)
        if j is None:
            strange.append(key)
        elif _is_number(value) and abs(value) <= _MOST:
            found.append((j, float(value)))
        else:
            raise Refused(422, f"{str(key)[:100]!r} of {place} is {shown(value)}: values are finite numbers")
    return found, strange


def _feature_id(key, place, served):
    """Return the id of a feature by its name or its id as text; None if there is none of this name."""
    j, n_features = served.feature_ids.get(key), served.packed.n_features
    if j is None and key.isascii() and key.isdecimal():
        j = int(key[:20])
        if j >= n_features:
            raise Refused(422, f"{place} has the feature {key[:20]}; ids go from 0 to {n_features - 1}")
    return j


def finite_number(text: str, name: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise Refused(422, f"{name} must be a number, not {text[:100]!r}")
    return value
