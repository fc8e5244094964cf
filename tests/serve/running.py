"""A real server in a process of its own, and the same application on a thread, which starts in no time."""

import contextlib
import json
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import uvicorn

from xmlcore.serve import Served, listen, make_app

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


@contextlib.contextmanager
def on_thread(packed):
    """Serve a packed model on a thread; yield its address."""
    server = uvicorn.Server(uvicorn.Config(make_app([Served("model", packed)]), log_level="error"))
    with listen(port=0) as listening:
        thread = threading.Thread(target=server.run, args=[[listening]])
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
