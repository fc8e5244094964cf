"""Download a file: resumed, retried and checked, and never half-written under its name."""

import hashlib
import json
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
_PART, _NOTE = ".part", ".part.json"  # endings of an unfinished download, and of what is known of it
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
    total: float = 6 * 3600.0  # seconds; what was received is kept, and the next download continues it


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
    # What was received before a failure, a stop or a crash stays beside the target, in a file that ends in ``.part``,
    # and the next call continues there if the server can and the file is still the same.
    require("download", "pooch")
    import pooch
    import requests

    target = Path(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    pooch.get_logger().setLevel("WARNING")  # it would print the checksum of each file
    arriving = target.parent / ".arriving"  # pooch's own temporary file: in a folder that is not searched for data
    download = _Download(target, progress, limits or DownloadLimits(), max_bytes)
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
    """What pooch calls to download a file: it resumes and retries."""

    def __init__(self, target, progress, limits, max_bytes):
        self.part = target.with_name(target.name + _PART)
        self.note = target.with_name(target.name + _NOTE)
        self.progress, self.limits, self.max_bytes = progress, limits, max_bytes
        self.share = 0.0  # of the file that was received

    def __call__(self, url, output_file, pooch):
        self.deadline = time.monotonic() + self.limits.total
        failures = 0
        while True:
            before = self._size()
            try:
                self._attempt(url)
                break
            except _FailureError as failure:
                failures = 1 if self._size() - before >= ENOUGH else failures + 1
                if failures >= self.limits.attempts:
                    tried = f"{failures} attempts" if failures > 1 else "1 attempt"
                    raise DownloadError(f"{failure}; given up after {tried}.{self._kept()}") from None
                self._wait(max(failure.wait, self.limits.pause * 2 ** (failures - 1)), str(failure))
        os.replace(self.part, output_file)
        self.note.unlink(missing_ok=True)

    def _size(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _kept(self) -> str:
        size = self._size()
        return f" {wording.size(size)} are kept, and the next attempt continues there." if size else ""

    def _wait(self, seconds, why):
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.progress(PHASE, self.share, f"{why}; trying again in {left:.0f} s")
            self._check_time()
            time.sleep(min(0.2, left))

    def _check_time(self):
        if time.monotonic() > self.deadline:
            raise DownloadError(f"The download took more than {self.limits.total / 60:,.0f} minutes.{self._kept()}")

    def _attempt(self, url):
        import requests

        done, known = self._size(), self._known(url)
        if not known:
            done = 0
        headers = {"Accept-Encoding": "identity", "User-Agent": _AGENT}
        if done:
            headers["Range"] = f"bytes={done}-"
            if known.get("validator"):
                headers["If-Range"] = known["validator"]
        self.progress(PHASE, self.share, f"asking {_host(url)}")
        timeout, answered = (self.limits.connect, self.limits.silence), False
        try:
            with requests.get(url, stream=True, timeout=timeout, headers=headers) as response:
                answered = True
                self._receive(url, response, done, known)
        except (requests.ReadTimeout, requests.ConnectionError, requests.exceptions.ChunkedEncodingError) as error:
            if isinstance(error, requests.ReadTimeout) or answered and "timed out" in str(error):
                reason = f"{_host(url)} sent nothing for {self.limits.silence:g} s"
            elif answered or isinstance(error, requests.exceptions.SSLError):
                reason = f"The connection to {_host(url)} broke"
            else:
                reason = f"{_host(url)} cannot be reached: is this machine offline?"
            raise _FailureError(reason) from None

    def _known(self, url) -> dict:
        """Return what is known of the unfinished file; an empty dict if it cannot be continued."""
        try:
            known = json.loads(self.note.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) and known.get("url") == url else {}

    def _begin(self, url, response, done, known) -> tuple[int | None, int]:
        """Return the size of the file, if it is known, and how much of it is there; raise if the rest does not come."""
        status, headers = response.status_code, response.headers
        if status == 416:
            self._forget()
            raise _FailureError(f"{_host(url)} cannot continue the file")
        if status in (408, 425, 429) or status >= 500:
            wait = headers.get("Retry-After", "")
            wait = min(float(wait), 60.0) if wait.isdecimal() else 0.0
            raise _FailureError(f"{_host(url)} answered {status} {response.reason}", wait)
        if status not in (200, 206) or (status == 206 and not done):
            raise DownloadError(f"{_host(url)} answered {status} {response.reason} for {url}.")
        total, start = _extent(response)
        if status == 206 and (start != done or total != known.get("total")):
            self._forget()
            raise _FailureError(f"{_host(url)} has another file than before")
        if "text/html" in headers.get("Content-Type", "").lower():
            raise DownloadError(_web_page(url))
        done = done if status == 206 else 0
        if total is not None and total > self.max_bytes:
            raise DownloadError(f"The file has {wording.size(total)}, more than {wording.size(self.max_bytes)}.")
        if total is not None and total - done > (free := shutil.disk_usage(self.part.parent).free):
            raise DownloadError(f"The file has {wording.size(total)}, but the disk has {wording.size(free)} left.")
        etag = headers.get("ETag", "")
        validator = headers.get("Last-Modified") if etag.startswith("W/") or not etag else etag
        self.note.write_text(json.dumps({"url": url, "validator": validator, "total": total}), encoding="utf-8")
        return total, done

    def _receive(self, url, response, done, known):
        """Write what a response sends, after checking that it is the file or the rest of the file."""
        total, done = self._begin(url, response, done, known)
        with open(self.part, "ab" if done else "wb") as stream:
            for piece in response.iter_content(_CHUNK):
                if done == 0 and piece.lstrip().lower().startswith(_PAGE_BEGINS):
                    raise DownloadError(_web_page(url))
                done += len(piece)
                if done > self.max_bytes:
                    raise DownloadError(f"The file is larger than {wording.size(self.max_bytes)}.")
                stream.write(piece)
                of = f" of {wording.size(total)}" if total else ""
                self.share = min(done / total, 1.0) if total else 0.0
                self.progress(PHASE, self.share, f"{wording.size(done)}{of}")
                self._check_time()
        if total is not None and done != total:
            raise _FailureError(f"{_host(url)} sent {wording.size(done)} of {wording.size(total)}")
        if done == 0:
            raise _FailureError(f"{_host(url)} sent an empty file")

    def _forget(self):
        self.part.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)


def _extent(response) -> tuple[int | None, int]:
    """Return the size of the whole file, None if it is not known, and the first byte that is sent."""
    if response.status_code == 206:
        unit, _, rest = response.headers.get("Content-Range", "").partition(" ")
        extent, _, total = rest.partition("/")
        first = extent.partition("-")[0]
        return (int(total), int(first)) if total.isdecimal() and first.isdecimal() else (None, -1)
    length = response.headers.get("Content-Length", "")
    encoded = response.headers.get("Content-Encoding", "identity") not in ("", "identity")
    return (int(length) if length.isdecimal() and not encoded else None), 0


def _web_page(url) -> str:
    return (
        f"{_host(url)} sent a web page instead of the file: it asks for a confirmation, or the file has moved. "
        "Open the address in a browser."
    )


def _host(url) -> str:
    return urlsplit(url).hostname or url
