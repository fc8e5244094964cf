"""``xmlcore serve``."""

import itertools
import os
import signal
import sys
import threading
from pathlib import Path

import click

from xmlcore.cli.data import must_exist
from xmlcore.cli.output import as_json, note
from xmlcore.datasets import read_vocabulary

TOKEN = "XMLCORE_LEARN_TOKEN"
PATIENCE = 10  # seconds after which the next reload no longer waits for one that reads


@click.command("serve")
@click.argument("models", nargs=-1, required=True, metavar="[NAME=]MODEL...")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen at: 127.0.0.1 for this machine only, 0.0.0.0 for all who can reach it.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 for any free port.")
@click.option(
    "--vocabulary",
    type=click.Path(),
    help="File of subjects with their URIs (Annif's TSV or CSV): Annif is answered with these.",
)
@click.option("--max-bytes", type=click.IntRange(1), default=16 << 20, show_default=True, help="Bytes of a request.")
@click.option("--max-rows", type=click.IntRange(1), default=1000, show_default=True, help="Rows of a request.")
@click.option("--max-k", type=click.IntRange(1), default=1000, show_default=True, help="Labels for each row.")
@click.option("--timeout", type=click.IntRange(1), default=30, show_default=True, help="Seconds for a request.")
@click.option("--at-once", type=click.IntRange(1), help="Requests worked on at once; by default one per core.")
@click.option("--waiting", type=click.IntRange(1), default=100, show_default=True, help="Requests that may wait.")
@click.option("--log", is_flag=True, help="Write a line of JSON for each request to standard error, without content.")
@click.option(
    "--learn", type=click.Path(), help=f"Learn what is sent to .../learn with the token in ${TOKEN}; keep it here."
)
@click.option("--json", "to_json", is_flag=True, help="Write the models' addresses as JSON, once they are served.")
def command(models, host, port, vocabulary, max_bytes, max_rows, max_k, timeout, at_once, waiting, log, learn, to_json):
    """Put packed or saved models behind a URL: texts or rows in, labels with scores out.

    For example: python -m xmlcore serve model.zip, and then

    curl localhost:8000/predict -H 'Content-Type: application/json' -d '{"text": "some words", "k": 3}'
    """
    from xmlcore import serve
    from xmlcore.serve.running import is_local

    limits = serve.Limits(max_bytes, max_rows, max_k, timeout, at_once, waiting)
    must_exist(vocabulary)

    def read():
        titles = read_vocabulary(vocabulary) if vocabulary is not None else {}
        return [serve.Served.read(path, name, titles) for name, path in map(_named, models)]

    if learn is not None and not os.environ.get(TOKEN):
        raise click.UsageError(f"--learn needs a token in the environment variable {TOKEN}")
    learner = None if learn is None else serve.Learner(os.environ[TOKEN], learn)
    served = read()
    listening = serve.listen(host, port)
    with listening:
        app = serve.make_app(served, limits, log=log, learner=learner)
        _read_again_on_hangup(read, app.state.replace)
        place = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
        if to_json:
            as_json({"url": place, "models": [model.about() for model in served]})
        else:
            for model in served:
                about = model.about()
                click.echo(
                    f"{place}/v1/models/{model.name}: {about['title']}, {about['labels']:,} labels, takes "
                    f"{about['takes']}"
                )
            click.echo("Stop with Ctrl+C.")
        if not is_local(host):
            note("everyone who can reach this address can use the models and read their cards.")
        serve.run(app, listening=listening, seconds=3 * timeout + 10)  # to arrive, to be answered, to be fetched


def _read_again_on_hangup(read, replace):
    """Have the files of the models read again when the process gets the signal SIGHUP; a bad file changes nothing."""
    one_reads, one_replaces, newest, numbers = threading.Lock(), threading.Lock(), 0, itertools.count(1)

    def attempt(number):
        nonlocal newest
        try:
            models = read()
            with one_replaces:
                if number < newest:  # what was asked for last is what stays
                    return note(f"the models of reload {number} came too late, after those of reload {newest}.")
                replace(models)
                newest = number
        except Exception as error:
            note(f"the models stay as they were: {error}")
        else:
            note("the models were read again.")

    def reload():
        with one_reads:
            reading = threading.Thread(target=attempt, args=[number := next(numbers)], daemon=True)
            reading.start()
            reading.join(PATIENCE)
            if reading.is_alive():
                note(
                    f"reload {number} still reads after {PATIENCE} seconds. Until it ends the models stay as they "
                    "were, and later reloads do not wait for it: look whether a file hangs."
                )

    # Windows has none. In a terminal it says that the terminal is closed, which ends the process.
    if hasattr(signal, "SIGHUP") and not sys.stdin.isatty():
        signal.signal(signal.SIGHUP, lambda *_: threading.Thread(target=reload, daemon=True).start())


def _named(given: str) -> tuple[str | None, str]:
    """Split ``NAME=PATH``; the name is None if only a path is given, also one with an equals sign that exists."""
    name, sign, path = given.partition("=")
    return (name, path) if sign and not Path(given).exists() else (None, given)
