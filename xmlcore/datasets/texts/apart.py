"""Search of texts for a regular expression in a process of its own, which is ended when it takes too long.

Python's ``re`` cannot be interrupted, and while it searches no other thread of the process runs. So a server that takes
patterns from its users has them searched for here: see :func:`limit_search`.
"""

import marshal
import subprocess
import sys

# What the process runs: where the word is in each match, for each text. It imports little, so that it starts quickly.
_PROGRAM = """
import marshal, re, sys
pattern, texts, most = marshal.load(sys.stdin.buffer)
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
except (ImportError, ValueError, OSError):  # a system without such limits
    pass
pattern = re.compile(pattern)
found = [[match.span(pattern.groups) for match in pattern.finditer(text)] for text in texts]
marshal.dump(found, sys.stdout.buffer)
"""
SECONDS = 5.0  # that a search may take in a server, while somebody waits for it
MEMORY = 1 << 30  # bytes that a search may take in a server, on systems that limit the memory of a process
_limit = None  # seconds that a search may take; None: searches are made in this process, and may take any time


def limit_search(seconds: float | None) -> None:
    """Set how long a search for a pattern of a user may take in this process; workers that can be ended have none."""
    global _limit
    _limit = seconds


def is_limited() -> bool:
    """Return whether searches for patterns of users have a limit in this process."""
    return _limit is not None


def spans(pattern: str, texts: list[str]) -> list[list[tuple[int, int]]]:
    """Return, for each text, where each match starts and ends: its group, if the pattern has one."""
    command = [sys.executable, "-I", "-S", "-c", _PROGRAM]
    given = marshal.dumps((pattern, texts, MEMORY))
    try:
        done = subprocess.run(command, input=given, capture_output=True, timeout=_limit)
    except subprocess.TimeoutExpired:
        raise ValueError(
            f"pattern {pattern!r} takes more than {_limit:g} seconds on these texts: write it so that each part can "
            r"end in one place only, such as \w+ instead of \w+\w+"
        ) from None
    except OSError as error:
        raise ValueError(
            f"the search for pattern {pattern!r} could not begin: {error.strerror}. Try again later"
        ) from error
    if b"MemoryError" in done.stderr:
        raise ValueError(f"the search for pattern {pattern!r} needs too much memory: search fewer texts at once")
    if done.returncode:
        raise ValueError(
            f"the search for pattern {pattern!r} was ended before it was done: there may be too little memory. "
            "Try again later, or with fewer texts"
        )
    return marshal.loads(done.stdout)
