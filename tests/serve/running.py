"""A real server in a process of its own."""

import contextlib
import json
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@contextlib.contextmanager
def served(*arguments):
    """Run ``xmlcore serve`` on a free port; yield its address, and stop it as Ctrl+C does."""
    command = [sys.executable, "-m", "xmlcore", "serve", *map(str, arguments), "--port", "0", "--json"]
    server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        text = ""
        while not text.endswith("\n}\n"):
            line = server.stdout.readline()
            assert line, server.stderr.read()
            text += line
        yield json.loads(text)["url"]
    finally:
        server.send_signal(signal.SIGINT)
        _, err = server.communicate(timeout=20)
    assert server.returncode == 0 and "Traceback" not in err, err
