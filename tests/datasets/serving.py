"""A web server on this machine that sends files as real servers do: whole, in part, slowly, or not at all."""

import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class File:
    """A file of the server, and how it is sent."""

    def __init__(self, content, *, kind="application/zip", etag='"1"', resumes=True, drops=(), status=(), slow=0.0,
                 length=True, headers=()):  # fmt: skip
        self.content, self.kind, self.etag, self.resumes = content, kind, etag, resumes
        self.drops = list(drops)  # of the next answers: after so many bytes the connection is closed
        self.status = list(status)  # of the next answers: the status, instead of the file
        self.slow = slow  # seconds before each piece of 1,000 bytes
        self.length = length  # whether the size is announced
        self.headers = dict(headers)
        self.asked = []  # the Range of each request, None without one


@contextmanager
def serving(files):
    """Serve ``{path: File}``; yields the address of the server."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args):
            pass

        def do_GET(self):
            file = files.get(self.path)
            if file is None:
                return self.answer(404)
            wanted = self.headers.get("Range")
            file.asked.append(wanted)
            if file.status:
                return self.answer(file.status.pop(0), file.headers)
            first, total = 0, len(file.content)
            condition = self.headers.get("If-Range")
            if wanted and file.resumes and condition in (None, file.etag):
                first = int(wanted.removeprefix("bytes=").removesuffix("-"))
                if first >= total:
                    return self.answer(416)
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {first}-{total - 1}/{total}")
            else:
                self.send_response(200)
            self.send_header("Content-Type", file.kind)
            if file.etag:
                self.send_header("ETag", file.etag)
            if file.length:
                self.send_header("Content-Length", str(total - first))
            self.send_header("Connection", "close")
            self.close_connection = True
            self.end_headers()
            end = min(total, first + file.drops.pop(0)) if file.drops else total
            for start in range(first, end, 1000):
                time.sleep(file.slow)
                self.wfile.write(file.content[start : min(start + 1000, end)])

        def answer(self, status, headers=()):
            self.send_response(status)
            for name, value in dict(headers).items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *about: None  # a client that hangs up is no error of the tests
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
