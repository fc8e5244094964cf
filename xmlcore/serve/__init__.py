"""Models behind a URL: texts or rows in, labels with scores out, as JSON over HTTP.

>>> from xmlcore import serve
>>> app = serve.make_app([serve.Served.read("m.zip")])                # for any ASGI server      # doctest: +SKIP
>>> serve.run(app, port=8000)                                         # or with uvicorn          # doctest: +SKIP

On the command line: ``python -m xmlcore serve m.zip``. docs/serving.md describes the addresses and the answers.
"""

# ruff: noqa: E402
from xmlcore.extras import OF_PARTS, require

require("serve", OF_PARTS["serve"])  # says what to install where Starlette is missing

from xmlcore.serve.app import make_app
from xmlcore.serve.learning import Learner
from xmlcore.serve.limits import Limits
from xmlcore.serve.running import listen, run
from xmlcore.serve.served import Served, commands

__all__ = ["Learner", "Limits", "Served", "commands", "listen", "make_app", "run"]
