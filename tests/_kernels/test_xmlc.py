"""The compiled parser against its plain-Python twin."""

import naive
import numpy as np
import pytest

from xmlcore._kernels import xmlc as kernels
from xmlcore.datasets.readers.xmlc import XmlcReader
from xmlcore.validation import INT32_MAX

FAULTS = "bad label,label range,bad feature,feature range,bad value,too many rows,too few rows,sum overflow".split(",")
STATUS = {fault: getattr(kernels, fault.replace(" ", "_").upper()) for fault in FAULTS}


def compare(content, n_rows=-1, n_features=INT32_MAX, n_labels=INT32_MAX, first_index=0, skip_blank=False):
    text = np.frombuffer(content, dtype=np.uint8)
    reader = XmlcReader(text, 0, 5, first_index, skip_blank)
    status = reader.run(n_rows, n_features, n_labels)
    out = reader.out
    expected = naive.xmlc.parse_rows(content, 5, n_rows, n_features, n_labels, first_index, skip_blank)
    if expected[0] != "ok":
        assert status == STATUS[expected[0]], (expected, content)
        assert out[kernels.LINE] == expected[1]
        if expected[0] != "too few rows":
            assert out[kernels.POSITION] - out[kernels.LINE_START] + 1 == expected[2], (expected, content)
        return expected[0]
    assert status == kernels.OK, (status, content)
    rows, repeats = expected[1:]
    assert out[kernels.ROWS] == len(rows)
    for i, (labels, features) in enumerate(rows):
        y = slice(reader.arrays.y_indptr[i], reader.arrays.y_indptr[i + 1])
        x = slice(reader.arrays.x_indptr[i], reader.arrays.x_indptr[i + 1])
        assert reader.arrays.y_indices[y].tolist() == labels
        assert reader.arrays.x_indices[x].tolist() == list(features)
        assert reader.arrays.x_data[x].tobytes() == np.array(list(features.values()), np.float32).tobytes(), content
    for lines, count, first in (
        (repeats[0], kernels.REPEATED_FEATURE_ROWS, kernels.REPEATED_FEATURE_LINE),
        (repeats[1], kernels.REPEATED_LABEL_ROWS, kernels.REPEATED_LABEL_LINE),
    ):
        assert out[count] == len(lines)
        assert not lines or out[first] == lines[0]
    return "ok"


def random_rows(rng):
    """Mostly right rows, in odd layouts."""
    lines = []
    for _ in range(rng.integers(1, 6)):
        n_labels, n_features = rng.integers(0, 4), rng.integers(0, 6)
        comma = rng.choice([",", ",", ", ", " ,"])
        row = comma.join(str(rng.integers(0, 7)) for _ in range(n_labels))
        if not row or rng.random() < 0.1:
            row += rng.choice(["", " ", "\t"])
        for k in range(n_features):
            value = rng.choice(
                ["1", "0", "-0.5", "3.25e2", ".5", "2.", "+7", f"{rng.normal():.9g}", repr(rng.normal())]
            )
            row += ("" if k == 0 and not row else str(rng.choice([" ", "  ", "\t"]))) + f"{rng.integers(0, 9)}:{value}"
        row += str(rng.choice(["", "", " ", "\r", " # said 1:2", "#"]))
        lines.append(row)
    return "\n".join(lines).encode() + (b"\n" if rng.random() < 0.7 else b"")


def test_well_formed_rows_give_the_same_arrays_as_the_twin():
    rng = np.random.default_rng(1)
    seen = [compare(random_rows(rng), skip_blank=bool(i % 2)) for i in range(400)]
    assert seen.count("ok") > 300


def test_damaged_rows_give_the_same_error_and_place_as_the_twin():
    rng = np.random.default_rng(2)
    seen = set()
    for _ in range(1500):
        content = bytearray(random_rows(rng))
        for _ in range(rng.integers(1, 4)):
            at = rng.integers(0, len(content) + 1)
            junk = bytes(rng.choice([b" ", b",", b":", b"-", b".", b"\n", b"#", b"9", b"e", b"x", b"\x00", b"\xff"]))
            content[at : at + rng.integers(0, 2)] = junk
        seen.add(
            compare(
                bytes(content),
                n_rows=int(rng.integers(-1, 6)),
                n_features=int(rng.choice([5, 9, INT32_MAX])),
                n_labels=int(rng.choice([4, 7, INT32_MAX])),
                first_index=int(rng.integers(0, 2)),
                skip_blank=bool(rng.integers(0, 2)),
            )
        )
    assert seen == {"ok", *STATUS} - {"sum overflow"}


@pytest.mark.parametrize("text", [
    "16777217",  # halfway between two float32
    "3.4028234663852886e38",
    "3.4028235677973365e38",  # rounds to the largest float32
    "3.4028235677973367e38",  # rounds to infinity
    "1.4e-45",
    "7.006492321624085e-46",  # half of the smallest number
    "0." + "0" * 300 + "1e300",
    "1" + "0" * 300 + "e-300",
    "00000000000000000000000000000000000001.5",
    *"1e 1e+ + . 1.e5 --1 1_0 0x10 nan -inf 1e39 1e-46 1e-400 1e400 0e999999999999".split(),
    "9" * 5000,
    "1." + "9" * 5000,
])  # fmt: skip
def test_numbers_are_rounded_as_python_rounds_them(text):
    compare(f"1 2:{text} 3:-{text} 4:1\n0 1:{text}".encode())


def test_long_numbers_are_rounded_as_python_rounds_them():
    rng = np.random.default_rng(4)
    tokens = []
    for _ in range(4000):
        digits = "".join(str(d) for d in rng.integers(0, 10, rng.integers(1, 24)))
        point = rng.integers(0, len(digits) + 1)
        tokens.append(f"{digits[:point]}.{digits[point:]}e{rng.integers(-60, 15)}")
    halfway = rng.integers(0x00800000, 0x7F000000, 600).astype(np.uint32).view(np.float32).astype(np.float64)
    above = np.nextafter(halfway.astype(np.float32), np.float32(np.inf)).astype(np.float64)
    tokens += [f"{x:.{precision}e}" for x in (halfway + above) / 2 for precision in (14, 17, 18, 30)]
    for start in range(0, len(tokens), 400):
        row = " ".join(f"{i}:{token}" for i, token in enumerate(tokens[start : start + 400]))
        assert compare(row.encode()) == "ok"


def test_more_hard_numbers_than_the_first_buffer_holds():
    row = " ".join(f"{i}:16777217.00000000000000000{i}1" for i in range(1000))
    assert compare(f"{row}\n{row} 7:3.4028235677973362e38".encode()) == "ok"
    assert compare(f"{row} 1001:3.4028235677973367e38".encode()) == "bad value"
