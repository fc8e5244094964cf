"""Which workspaces belong to a user who has signed in, and who may open a workspace.

A workspace belongs to the user who opened it first; it has a hash of who that is. Nobody else opens it, also not
without signing in, but for those who were given its read-only address.
"""

import contextlib
import time

from pages.shared.operator import accounts
from pages.shared.workspaces import stored
from xmlcore.state import database

TABLE = "users"  # user -> tokens of the user's workspaces, and when each was opened last
LISTS = ("runs", "selections", "sweeps")  # fields of a workspace with records of results
MOST = 500  # workspaces of a user that are remembered: those opened last


def tokens(user: str) -> list[str]:
    """Return the tokens of a user's workspaces that exist, the one opened last first."""
    opened = database().get(TABLE, user, {})
    return [token for token in sorted(opened, key=lambda one: -opened[one]) if stored.exists(token)]


def admits(token: str) -> bool:
    """Return whether the present user may open a workspace, or a read-only address."""
    data, who = stored.read(token), accounts.user()
    bound = data.get("user") if isinstance(data, dict) else None
    return bound is None or (who is not None and bound == who.id)


def chosen(token: str | None) -> str | None:
    """Return the workspace that a new session opens: that of the address, or the one that the user opened last."""
    who, data = accounts.user(), None if token is None else stored.read(token)
    # One that was made for an address without a workspace, and in which nothing was done yet.
    is_new = isinstance(data, dict) and "look_of" not in data and data.get("user") is None and not data.get("known")
    if who is None or (token is not None and not is_new):
        return token
    return next(iter(tokens(who.id)), token)


def bind(token: str, data: dict) -> dict:
    """Return the fields of a workspace that the present user has opened, and which belongs to him from now on."""
    who = accounts.user()
    if who is not None:
        remember(who.id, token)
        if data["user"] is None:
            data = {**data, "user": who.id}
            stored.write(token, data)
    return data


def listed_keys(fields: dict) -> set[str]:
    """Return the keys that a workspace lists itself: of data sets, models, selections, sweeps, and results it made."""
    listed = {record["key"] for kind in LISTS for record in fields.get(kind, ())}
    return {*fields.get("known", ()), *listed, *(key for _, key in fields.get("made", ()))}


def remember(user: str, token: str) -> None:
    """Note that a user has opened one of his workspaces now. A full disk is no error."""
    with contextlib.suppress(OSError), database().change():
        opened = {**database().get(TABLE, user, {}), token: time.time()}
        newest = sorted(opened, key=lambda token_of: -opened[token_of])[:MOST]
        database().put(TABLE, user, {token_of: opened[token_of] for token_of in newest})
