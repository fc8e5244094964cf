"""Rows of "l1,l2 f:v f:v": twin of xmlcore/_kernels/xmlc.py."""

import numpy as np


def parse_rows(text, first_line, n_rows, n_features, n_labels, first_index, skip_blank):
    """Parse rows of bytes, as ``_kernels.xmlc.parse_rows`` does.

    Returns ("ok", rows, repeats) with rows a list of (labels, {feature: value}) and repeats the lines that name a
    feature twice and those that name a label twice; or (what is wrong, line, column), both from 1.
    """
    import re

    rows, twice_features, twice_labels = [], [], []
    lines = text.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    for line, raw in enumerate(lines, first_line):
        content = raw.split(b"#")[0]
        if not content.strip(b" \t\r"):
            is_comment = len(content) < len(raw)
            if not skip_blank and not is_comment and len(rows) != n_rows:
                rows.append(([], {}))
            continue
        if len(rows) == n_rows:
            return "too many rows", line, len(content) - len(content.lstrip(b" \t\r")) + 1
        labels = []
        at = 0
        if not re.match(rb"[ \t\r]|[0-9]+:", content):
            while True:
                match = re.compile(rb"[0-9]+(?=[ \t\r,]|$)").match(content, at)
                if not match:
                    return "bad label", line, at + 1
                label = int(match.group()) - first_index
                if not 0 <= label < n_labels:
                    return "label range", line, at + 1
                labels.append(label)
                comma = re.compile(rb"[ \t\r]*,[ \t\r]*").match(content, match.end())
                at = comma.end() if comma else match.end()
                if not comma:
                    break
        features = []
        for token in re.compile(rb"[^ \t\r]+").finditer(content, at):
            key, colon, value = token.group().partition(b":")
            if not colon or not re.fullmatch(rb"[0-9]+", key):
                return "bad feature", line, token.start() + 1
            feature = int(key) - first_index
            if not 0 <= feature < n_features:
                return "feature range", line, token.start() + 1
            number = re.fullmatch(rb"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?", value)
            with np.errstate(over="ignore"):
                if not number or not np.isfinite(np.float32(float(value))):
                    return "bad value", line, token.start() + len(key) + 2
            features.append((feature, np.float32(float(value))))
        if len(set(labels)) < len(labels):
            twice_labels.append(line)
        sums = {}
        for feature, value in features:
            sums[feature] = sums.get(feature, 0.0) + float(value)
        if len(sums) < len(features):
            twice_features.append(line)
        with np.errstate(over="ignore"):
            singles = {feature: np.float32(sums[feature]) for feature in sorted(sums)}
        if not all(np.isfinite(value) for value in singles.values()):
            return "sum overflow", line, 1
        rows.append((sorted(set(labels)), {feature: value for feature, value in singles.items() if value != 0}))
    if n_rows >= 0 and len(rows) < n_rows:
        return "too few rows", first_line + len(lines), 1
    return "ok", rows, (twice_features, twice_labels)
