"""Damage files at random, and check that what reads them gives a matrix or a DatasetFormatError, quickly."""

import resource
import time
import warnings

from tests.archiving import members, zipped
from xmlcore.datasets import DatasetFormatError, DatasetWarning

SECONDS, BYTES = 5, 1 << 30  # what reading one damaged file may take: processor time and memory
_SEPARATORS = [b"", b"\r\n", *(bytes([byte]) for byte in b"\n\r \t,:;'\"\\{}#%?@")]
_PIECES = [*_SEPARATORS, b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xc3", "é\u2028".encode()]
_PIECES += b",, {} < > &a; 0 -1 1.5 1e999 nan -inf 4294967296 99999999999999999999999".split()
_PIECES += [b"0" * 400, b"1" * 5000, b"a" * 5000]


def mutate(content: bytes, random) -> bytes:
    """Return a content with some damage; ``random`` is a :class:`random.Random`."""
    data = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        at = random.randrange(len(data) + 1)
        length = random.choice((1, 1, 2, 5, 20, 200))
        change = random.randrange(8)
        if change == 0:
            data[at : at + length] = b""
        elif change == 1:
            data[at:at] = random.choice(_PIECES)
        elif change == 2:
            data[at : at + length] = random.choice(_PIECES)
        elif change == 3:
            data[at : at + length] = random.randbytes(length)
        elif change == 4:  # a piece twice, or somewhere else
            data[at:at] = data[(start := random.randrange(len(data) + 1)) : start + length]
        elif change == 5:  # a line twice, or nowhere, or somewhere else
            lines = bytes(data).split(b"\n")
            line = lines[i := random.randrange(len(lines))]
            if random.random() < 0.5:
                del lines[i]
            if random.random() < 0.7:
                lines.insert(random.randrange(len(lines) + 1), line)
            data = bytearray(b"\n".join(lines))
        elif change == 6:  # one sort of byte becomes another
            before, after = random.choice(_SEPARATORS[1:]), random.choice(_SEPARATORS)
            data = data.replace(before, after, random.choice((1, 2, -1)))
        elif random.random() < 0.3:
            del data[at:]
        del data[1 << 20 :]
    return bytes(data)


def mutate_archive(content: bytes, random) -> bytes:
    """Return a zip archive with some damage: to its bytes, or to one of its files, so that its checksums are right."""
    if random.random() < 0.3:
        return mutate(content, random)
    files = members(content)
    name, other = (random.choice(list(files)) for _ in range(2))
    change = random.random()
    if change < 0.1:
        del files[name]
    elif change < 0.3:
        files[name] = files[other]
    elif change < 0.6:  # a number
        at = random.randrange(files[name].find(b"\n") + 1, len(files[name]))
        files[name] = files[name][:at] + random.randbytes(1) + files[name][at + 1 :]
    else:
        files[name] = mutate(files[name], random)
    return zipped(files)


def check(read, *arguments, **options) -> bool:
    """Return whether ``read`` could read; raise AssertionError if it fails in another way, or takes too long."""
    start, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with warnings.catch_warnings(action="ignore", category=DatasetWarning):
            read(*arguments, **options)
        could = True
    except DatasetFormatError as error:
        assert str(error) and error.remedy, "an error without a remedy"
        could = False
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error} for {arguments!r}, {options!r}") from error
    assert time.process_time() - start < SECONDS, f"too slow: {arguments!r}, {options!r}"
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < BYTES, f"too much memory: {arguments!r}, {options!r}"
    return could
