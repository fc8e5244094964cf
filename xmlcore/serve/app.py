"""The web application: addresses, and the answer to each."""

import asyncio
import contextlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from xmlcore import __version__
from xmlcore.models.rules import decided_ranking
from xmlcore.ranking import of_known
from xmlcore.serve import annif, bodies, openapi
from xmlcore.serve.learning import Learner, documents_of
from xmlcore.serve.limits import LARGE_BYTES, LARGE_LABELS, Lane, Limits, Refused
from xmlcore.serve.served import Served
from xmlcore.serve.watching import Counted, Numbers

AT_ONCE = 100  # labels that are written without a pause
TRY = Path(__file__).with_name("try.html")


def make_app(
    models: "Sequence[Served]", limits: Limits | None = None, *, log: bool = False, learner: Learner | None = None
) -> Starlette:
    """Return an ASGI application that serves models.

    Parameters
    ----------
    models : sequence of Served
    limits : Limits, optional
    log : bool
        Whether each request is a line of JSON on standard error: its time, address, model, status and seconds.

    learner : xmlcore.serve.learning.Learner, optional
        Has models learn documents, and what they have learnt before, at ``POST /v1/projects/NAME/learn``.

    Returns
    -------
    starlette.applications.Starlette
        ``app.state.replace(models)`` puts others in the place of its models: requests that have begun are answered by
        those before. It raises as this function does, and then nothing changes.
    """
    service = _Service(limits or Limits(), learner)
    service.replace(models)
    routes = [
        Route("/", service.home),
        Route("/health", service.health),
        Route("/ready", service.ready),
        Route("/metrics", service.metrics),
        Route("/openapi.json", service.openapi),
        Route("/try", service.to_try),
        Route("/card", service.card),
        Route("/predict", service.predict, methods=["POST"]),
        Route("/v1/models", service.models_list),
        Route("/v1/models/{name}", service.card),
        Route("/v1/models/{name}/predict", service.predict, methods=["POST"]),
        Route("/v1/projects", service.projects),
        Route("/v1/projects/{name}", service.project),
        Route("/v1/projects/{name}/suggest", service.suggest, methods=["POST"]),
    ]
    routes += [Route("/v1/projects/{name}/learn", service.learn, methods=["POST"])] if learner else []
    handlers = {Refused: _refused, HTTPException: _http_error, ClientDisconnect: _gone, Exception: _failed}

    @contextlib.asynccontextmanager
    async def lifespan(app):
        """Stop the threads when the server stops."""
        yield
        for lane in service.lanes:
            lane.pool.shutdown(wait=False, cancel_futures=True)

    watched = Middleware(Counted, service.numbers, log)
    app = Starlette(routes=routes, middleware=[watched], exception_handlers=handlers, lifespan=lifespan)
    app.router.redirect_slashes = False  # a redirect would lead to whatever name the request has in its header Host
    app.state.replace = service.replace
    return app


def _refused(request, error):
    headers = {"Retry-After": "1"} if error.status == 503 else None
    return JSONResponse({"error": error.reason}, error.status, headers)


def _gone(request, error):
    """Answer nobody: the client has closed the connection before its request had arrived."""
    return Response(status_code=400)


def _http_error(request, error):
    """Answer a request for an address that does not exist, or with a method that it does not have."""
    reasons = {404: f"there is nothing at {request.url.path[:200]}: GET / lists the addresses",
               405: f"{request.method} is not possible at {request.url.path[:200]}"}  # fmt: skip
    return JSONResponse({"error": reasons.get(error.status_code, error.detail)}, error.status_code, error.headers)


def _failed(request, error):
    """Answer a request during which the program failed; the server writes the error to its log."""
    return JSONResponse({"error": "the server failed to answer; its log says why"}, 500)


class _Service:
    """The models and the threads that predict."""

    def __init__(self, limits, learner):
        self.by_name, self.learner = {}, learner
        self.limits = limits
        self.arriving = bodies.Arriving(limits)
        large = Lane(1, max(limits.waiting // 4, 1), limits.seconds)  # small requests never wait for large ones
        self.lanes = Lane(limits.at_once, limits.waiting, limits.seconds), large
        self.numbers = Numbers(self._busy)

    def replace(self, models):
        """Serve other models from the next request on."""
        models = list(models)
        names = [model.name for model in models]
        if not models:
            raise ValueError("there are no models to serve")
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f"two models have the name {twice[0]!r:.200}: give one another, as in NAME=PATH")
        with self.learner.lock if self.learner else contextlib.nullcontext():  # what is being learnt is not lost
            models = [self.learner.after(model) for model in models] if self.learner else models
            for model in models:
                model.warm_up()
            self.by_name = dict(zip(names, models))

    def _model(self, request):
        """Return the model that an address names; the only one if it names none."""
        name = request.path_params.get("name")
        if name is None and len(self.by_name) == 1:
            (name,) = self.by_name
        if name not in self.by_name:
            places = ", ".join(f"/v1/models/{known}" for known in self.by_name)
            problem = "there are several models" if name is None else f"there is no model {name[:100]!r}"
            raise Refused(404, f"{problem}: use {places}")
        request.scope["model"] = name  # for the log
        return self.by_name[name]

    def _lane(self, n_bytes, n_labels=0):
        return self.lanes[n_bytes > LARGE_BYTES or n_labels > LARGE_LABELS]

    def _busy(self):
        return sum(lane.busy for lane in self.lanes)

    async def home(self, request):
        served = [f"/v1/projects/{name}" for name in self.by_name]
        places = {
            "health": "/health",
            "ready": "/ready",
            "metrics": "/metrics",
            "openapi": "/openapi.json",
            "try": "/try",
            "models": [f"/v1/models/{name}" for name in self.by_name],
            "predict": [f"/v1/models/{name}/predict" for name in self.by_name],
            "annif": [f"{of}/suggest" for of in served],
        }
        places |= {"learn": [f"{of}/learn" for of in served]} if self.learner else {}
        return JSONResponse({"xmlcore": __version__, **places})

    async def health(self, request):
        return JSONResponse({"status": "ok", "xmlcore": __version__, "models": [*self.by_name], "busy": self._busy()})

    async def ready(self, request):
        """Say whether a further request would be accepted, for load balancers."""
        full = self.lanes[0].is_full
        return JSONResponse({"status": "full" if full else "ready"}, 503 if full else 200)

    async def metrics(self, request):
        return self.numbers.answer(self.by_name)

    async def openapi(self, request):
        return JSONResponse(openapi.description(self.by_name, self.limits, self.learner is not None))

    async def to_try(self, request):
        return HTMLResponse(TRY.read_text(encoding="utf-8"))

    async def models_list(self, request):
        return JSONResponse({"models": [model.about() for model in self.by_name.values()]})

    async def card(self, request):
        served = self._model(request)
        return JSONResponse(served.about() | {"card": served.packed.card})

    async def predict(self, request):
        served, limits = self._model(request), self.limits
        if bodies.media_type(request) != "application/json":
            raise Refused(415, "send JSON, with the header Content-Type: application/json")
        body = await self.arriving.read(request)

        def asked():
            return bodies.asked(bodies.as_json(body, limits), served, limits)

        is_small = len(body) <= LARGE_BYTES
        wanted = asked() if is_small else None
        n_labels = bodies.count_rows(wanted[0]) * (wanted[1] or 1) if is_small else 0

        def work(progress):
            inputs, k, threshold, unknown, decided, allowed = wanted or asked()
            rows = served.packed.rows(inputs)
            ranking = self._ranking(served, rows, k, progress, decided, allowed)
            more = {"decided": decided}
            if isinstance(inputs, list) and not np.diff(rows.indptr).all():
                ranking = of_known(ranking, rows)
                more["nothing_known"] = np.flatnonzero(np.diff(rows.indptr) == 0).tolist()
            labels, scores = np.where(ranking.scores >= threshold, ranking.labels, -1), ranking.scores
            if unknown is not None:
                more["unknown"] = unknown
            return _written(served, labels, scores, more, progress)

        return _sent(await self._lane(len(body), n_labels).run(request, work))

    async def projects(self, request):
        return JSONResponse({"projects": [annif.project(model) for model in self.by_name.values()]})

    async def project(self, request):
        return JSONResponse(annif.project(self._model(request)))

    async def suggest(self, request):
        served, kind = self._model(request), bodies.media_type(request)
        body = await self.arriving.read(request)

        def work(progress):
            wanted = annif.asked(body, kind, served, self.limits, request.query_params)
            decided = served.packed.model.rule_ is not None

            def ranking(rows, k, allowed):
                return self._ranking(served, rows, k, progress, decided, allowed)

            return annif.suggestions(*wanted, served, ranking)

        content = _json(await self._lane(len(body)).run(request, work))
        return Response(content, media_type="application/json")

    async def learn(self, request):
        """Have a model learn documents; requests that have begun are answered by the one before."""
        self.learner.check(request)
        served, body = self._model(request), await self.arriving.read(request)
        documents = documents_of(body, self.limits)

        def work(progress):
            with self.learner.lock:
                taught = self.learner.learn(self.by_name[served.name], documents, progress)
                self.by_name = self.by_name | {served.name: taught}

        await self.lanes[1].run(request, work)
        return Response(status_code=204)

    def _ranking(self, served, rows, k, progress, decided, allowed):
        """Return the k best labels, or at most k that the model decides for; ``progress`` can stop it."""
        self.numbers.rows.labels(served.name).inc(rows.shape[0])
        progress("Predicting", 0.0)
        model = served.packed.model
        if decided:
            return decided_ranking(model, rows, k, served.lately, allowed)
        among = {} if allowed is None else {"labels": allowed}
        return model.predict_topk(rows, k=min(k, served.packed.n_labels), progress=progress, **among)


def _written(served, labels, scores, more, progress) -> list[bytes]:
    """Return an answer as pieces of JSON, one for each row: other threads run between two."""
    pieces = [b'{"model":' + _json(served.name) + b',"predictions":[']
    for ids, row_scores in zip(labels, scores):
        progress("Writing", len(pieces) / len(labels))
        row = [
            {"label": served.packed.label_name(j), "id": j, "score": score}
            for j, score in zip(ids.tolist(), row_scores.tolist())
            if j >= 0
        ]
        parts = [_json(row[start : start + AT_ONCE])[1:-1] for start in range(0, len(row), AT_ONCE)]
        pieces.append((b"," if len(pieces) > 1 else b"") + b"[" + b",".join(parts) + b"]")
    return [*pieces, b"]" + b"".join(b"," + _json(name) + b":" + _json(value) for name, value in more.items()) + b"}"]


def _sent(pieces) -> Response:
    size = sum(map(len, pieces))
    if size <= LARGE_BYTES:
        return Response(b"".join(pieces), media_type="application/json")

    async def one_by_one():
        for piece in pieces:
            yield piece
            await asyncio.sleep(0)  # other requests have a turn, and a client that has gone is noticed

    return StreamingResponse(one_by_one(), headers={"Content-Length": str(size)}, media_type="application/json")


def _json(value) -> bytes:
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
