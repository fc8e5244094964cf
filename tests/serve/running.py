"""A real server in a process of its own."""

import contextlib
import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@contextlib.contextmanager
def running(*arguments):
    """Run ``xmlcore serve`` on a free port; yield its process, address and log; stop it as Ctrl+C does."""
    command = [sys.executable, "-m", "xmlcore", "serve", *map(str, arguments), "--port", "0", "--json"]
    with tempfile.NamedTemporaryFile("w") as errors:
        server = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, text=True
        )

        def log():
            return Path(errors.name).read_text()

        try:
            text = ""
            while not text.endswith("\n}\n"):
                line = server.stdout.readline()
                assert line, log()
                text += line
            yield server, json.loads(text)["url"], log
        finally:
            server.send_signal(signal.SIGINT)
            server.communicate(timeout=20)
        assert server.returncode == 0 and "Traceback" not in log(), log()


@contextlib.contextmanager
def served(*arguments):
    """Run ``xmlcore serve`` on a free port; yield its address."""
    with running(*arguments) as (_, url, _):
        yield url
