"""A provider of OpenID Connect on this machine, which signs in whoever it is told to."""

import base64
import contextlib
import secrets
import socket
import threading
import time
import urllib.parse

import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse, RedirectResponse
from starlette.routing import Route

CLIENT, SECRET = "dashboard", "a secret of the client"


class Provider:
    """The addresses that a client of OpenID Connect asks; ``claims`` is what it says of who signs in next."""

    def __init__(self):
        from joserfc.jwk import RSAKey

        self.key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})
        self.claims = {}
        self._codes = {}  # what was said of whom with which nonce, by the code of a sign-in
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.url = f"http://127.0.0.1:{probe.getsockname()[1]}"

    @contextlib.contextmanager
    def running(self):
        """Answer requests within the context."""
        paths = {
            "/.well-known/openid-configuration": self._describe,
            "/authorize": self._authorize,
            "/token": self._token,
            "/keys": self._keys,
        }
        routes = [Route(path, answer, methods=["GET", "POST"]) for path, answer in paths.items()]
        port = urllib.parse.urlsplit(self.url).port
        server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), port=port, log_level="error"))
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield self
        finally:
            server.should_exit = True
            thread.join(10)

    async def _describe(self, request):
        names = {"authorization_endpoint": "/authorize", "token_endpoint": "/token", "jwks_uri": "/keys"}
        about = {name: self.url + path for name, path in names.items()}
        about |= {"issuer": self.url, "response_types_supported": ["code"], "subject_types_supported": ["public"]}
        return JSONResponse(about | {"id_token_signing_alg_values_supported": ["RS256"]})

    async def _keys(self, request):
        return JSONResponse({"keys": [self.key.as_dict(private=False)]})

    async def _authorize(self, request):
        asked = request.query_params
        code = secrets.token_hex(8)
        self._codes[code] = (dict(self.claims), asked.get("nonce"))
        back = urllib.parse.urlencode({"code": code, "state": asked["state"]})
        return RedirectResponse(f"{asked['redirect_uri']}?{back}", 302)

    async def _token(self, request):
        from joserfc import jwt

        form = await request.form()
        given = base64.b64decode(request.headers.get("authorization", "Basic ").split()[-1]).decode()
        if urllib.parse.unquote(given) != f"{CLIENT}:{SECRET}" and form.get("client_secret") != SECRET:
            return JSONResponse({"error": "invalid_client"}, 401)
        claims, nonce = self._codes.pop(form["code"])
        now = int(time.time())
        claims |= {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 600, "nonce": nonce}
        token = jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.key)
        return JSONResponse({"access_token": "none", "token_type": "Bearer", "expires_in": 600, "id_token": token})


def secrets_file(path, provider, address):
    """Write the file of secrets that a dashboard at an address needs for a provider."""
    path.write_text(
        f"""[auth]
redirect_uri = "{address}/oauth2callback"
cookie_secret = "{secrets.token_hex(32)}"
client_id = "{CLIENT}"
client_secret = "{SECRET}"
server_metadata_url = "{provider.url}/.well-known/openid-configuration"
""",
        encoding="utf-8",
    )
    return path
