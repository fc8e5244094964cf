"""Download a file: tried again and checked, and never half-written under its name."""

import hashlib
import os
import shutil
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from xmlcore import wording
from xmlcore.extras import require
from xmlcore.progress import Progress, silent
from xmlcore.state import StateError, database, holders

PHASE = "Downloading"
MAX_BYTES = 16 << 30  # most bytes of a file
ENOUGH = 1 << 20  # bytes after which a broken connection counts as the first failure again
_CHUNK = 1 << 18  # bytes that are written at a time
_AGENT = "xmlcore (data set catalog)"
_PAGE_BEGINS = (b"<!doctype html", b"<html", b"<head")


class DownloadError(OSError):
    """A file could not be downloaded. The message says why, for users."""


@dataclass(frozen=True)
class DownloadLimits:
    """How patient a download is."""

    attempts: int = 5  # failures in a row; one after a MiB or more counts as the first again
    pause: float = 1.0  # seconds before the second attempt; each further pause is twice as long
    connect: float = 10.0  # seconds without a connection that count as a failure
    silence: float = 20.0  # the same without a byte on a connection
    total: float = 6 * 3600.0  # seconds


class _FailureError(Exception):
    """An attempt failed, and another one may succeed; ``wait``: seconds that the server asked to wait."""

    def __init__(self, reason, wait=0.0):
        super().__init__(reason)
        self.wait = wait


def fetch(
    url: str,
    target: Path,
    *,
    checksum: str | None = None,
    progress: Progress = silent,
    limits: DownloadLimits | None = None,
    max_bytes: int = MAX_BYTES,
) -> dict:
    """Download a file over HTTP."""
    require("download", "pooch")
    import pooch
    import requests

    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    pooch.get_logger().setLevel("WARNING")  # it would print the checksum of each file
    arriving = target.parent / ".arriving"  # pooch's own temporary file: in a folder that is not searched for data
    download = _Download(progress, limits or DownloadLimits(), max_bytes)
    try:
        with _alone(target):
            shutil.rmtree(arriving, ignore_errors=True)  # left by a process that was killed
            got = pooch.retrieve(url, checksum, fname="file", path=arriving, downloader=download)
            record = _record(Path(got), url, checksum, progress)
            os.replace(got, target)
    except requests.RequestException as error:
        raise DownloadError(f"{url} cannot be downloaded ({type(error).__name__}).") from error
    except ValueError as error:  # from pooch
        reason = f"The file from {_host(url)} is not the expected one: its checksum differs from the published one."
        raise DownloadError(reason) from error
    finally:
        shutil.rmtree(arriving, ignore_errors=True)
    return record


@contextmanager
def _alone(target):
    """Keep other runs from downloading the same file; without a database, the checks of the file must do."""
    hold = None
    with suppress(StateError):
        hold = holders.take(database(), f"download/{target.resolve()}", elsewhere=False)
        if hold is None:
            raise DownloadError(f"Another process is downloading {target.name} just now.")
    try:
        yield
    finally:
        with suppress(OSError):
            if hold is not None:
                hold.release()


def _record(path, url, checksum, progress):
    digest, size = hashlib.sha256(), path.stat().st_size
    with open(path, "rb") as stream:
        while piece := stream.read(1 << 22):
            digest.update(piece)
            progress("Checking the file", stream.tell() / size)
    when = datetime.now(UTC).isoformat(timespec="seconds")
    return {"url": url, "bytes": size, "sha256": digest.hexdigest(), "when": when, "checked": checksum is not None}


class _Download:
    """What pooch calls to download a file: it tries again, and goes on where a connection broke if the server can."""

    def __init__(self, progress, limits, max_bytes):
        self.progress, self.limits, self.max_bytes = progress, limits, max_bytes
        self.done, self.total, self.validator = 0, None, None  # bytes that are here, of all, and which file they are of

    def __call__(self, url, output_file, pooch):
        self.path, self.deadline, failures = Path(output_file), time.monotonic() + self.limits.total, 0
        while True:
            before = self.done
            try:
                return self._attempt(url)
            except _FailureError as failure:
                failures = 1 if self.done - before >= ENOUGH else failures + 1
                if failures >= self.limits.attempts:
                    tried = f"{failures} attempts" if failures > 1 else "1 attempt"
                    raise DownloadError(f"{failure}; given up after {tried}.") from None
                self._wait(max(failure.wait, self.limits.pause * 2 ** (failures - 1)), str(failure))

    def _report(self, detail):
        self.progress(PHASE, min(self.done / self.total, 1.0) if self.total else 0.0, detail)
        if time.monotonic() > self.deadline:
            raise DownloadError(f"The download took more than {self.limits.total / 60:,.0f} minutes.")

    def _wait(self, seconds, why):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._report(f"{why}; trying again in {left:.0f} s")
            time.sleep(min(0.2, left))

    def _attempt(self, url):
        import requests

        headers = {"Accept-Encoding": "identity", "User-Agent": _AGENT}
        if self.done and self.validator:
            headers |= {"Range": f"bytes={self.done}-", "If-Range": self.validator}
        self._report(f"asking {_host(url)}")
        timeout, answered = (self.limits.connect, self.limits.silence), False
        try:
            with requests.get(url, stream=True, timeout=timeout, headers=headers) as response:
                answered = True
                self._begin(url, response)
                self._receive(url, response)
        except (requests.ReadTimeout, requests.ConnectionError, requests.exceptions.ChunkedEncodingError) as error:
            if isinstance(error, requests.ReadTimeout) or answered and "timed out" in str(error):
                reason = f"{_host(url)} sent nothing for {self.limits.silence:g} s"
            elif answered or isinstance(error, requests.exceptions.SSLError):
                reason = f"The connection to {_host(url)} broke"
            else:
                reason = f"{_host(url)} cannot be reached: is this machine offline?"
            raise _FailureError(reason) from None

    def _begin(self, url, response):
        """Note the size of the file, and from where on it comes; raise if it does not come, or is too large."""
        status, headers = response.status_code, response.headers
        if status in (408, 425, 429) or status >= 500:
            wait = headers.get("Retry-After", "")
            wait = min(float(wait), 60.0) if wait.isdecimal() else 0.0
            raise _FailureError(f"{_host(url)} answered {status} {response.reason}", wait)
        if status not in (200, 206):
            raise DownloadError(f"{_host(url)} answered {status} {response.reason} for {url}.")
        if "text/html" in headers.get("Content-Type", "").lower():
            raise DownloadError(_web_page(url))
        goes_on = status == 206 and headers.get("Content-Range", "").startswith(f"bytes {self.done}-")
        self.done = self.done if goes_on else 0
        if status == 206 and not goes_on:
            raise _FailureError(f"{_host(url)} cannot continue the file")
        if goes_on:
            return
        length, encoding, etag = (headers.get(name, "") for name in ("Content-Length", "Content-Encoding", "ETag"))
        self.total = int(length) if length.isdecimal() and encoding in ("", "identity") else None
        self.validator = headers.get("Last-Modified") if etag.startswith("W/") or not etag else etag
        if (self.total or 0) > self.max_bytes:
            raise DownloadError(f"The file has {wording.size(self.total)}, more than {wording.size(self.max_bytes)}.")
        if (self.total or 0) > (free := shutil.disk_usage(self.path.parent).free):
            raise DownloadError(f"The file has {wording.size(self.total)}, but the disk has {wording.size(free)} left.")

    def _receive(self, url, response):
        with open(self.path, "ab" if self.done else "wb") as stream:
            for piece in response.iter_content(_CHUNK):
                if not self.done and piece.lstrip().lower().startswith(_PAGE_BEGINS):
                    raise DownloadError(_web_page(url))
                self.done += len(piece)
                if self.done > self.max_bytes:
                    raise DownloadError(f"The file is larger than {wording.size(self.max_bytes)}.")
                stream.write(piece)
                self._report(f"{wording.size(self.done)}{f' of {wording.size(self.total)}' if self.total else ''}")
        if self.total not in (None, self.done):
            raise _FailureError(f"{_host(url)} sent {wording.size(self.done)} of {wording.size(self.total)}")
        if not self.done:
            raise _FailureError(f"{_host(url)} sent an empty file")


def _web_page(url) -> str:
    return (
        f"{_host(url)} sent a web page instead of the file: it asks for a confirmation, or the file has moved. "
        "Open the address in a browser."
    )


def _host(url) -> str:
    return urlsplit(url).hostname or url
