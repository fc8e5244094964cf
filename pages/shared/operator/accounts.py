"""Signing in: who the user is, if the operator has set up a provider of OpenID Connect in .streamlit/secrets.toml.

Without a section ``[auth]`` in that file nobody signs in, and a workspace is open to whoever knows its address. With
it, a page is drawn only for users who have signed in, and a workspace belongs to the user who opened it first.
"""

import hashlib
import os
from dataclasses import dataclass

import streamlit as st

from pages.shared import format

USERS = "XMLCORE_USERS"  # environment variable: who may use the server, such as "ann@example.org, @lab.example.org"


@dataclass(frozen=True)
class User:
    """A user who has signed in."""

    id: str  # hash of the provider and of its name for the user, which never changes; workspaces are bound to it
    name: str  # what the page and the log call the user: the mail address if the provider tells it
    address: str | None  # the mail address, if the provider has verified it


def needed() -> bool:
    try:
        return "auth" in st.secrets
    except FileNotFoundError:  # there is no file of secrets
        return False


def user() -> User | None:
    """Return the user of this session; None if nobody is signed in, or sign-in is off."""
    if not needed() or not st.user.get("is_logged_in"):
        return None
    return user_of(dict(st.user))


def user_of(claims: dict) -> User | None:
    subject = claims.get("sub")
    if not isinstance(subject, str) or not subject:
        return None
    # A provider may be known under several addresses: those of a tenant have the tenant in them.
    named = f"{claims.get('iss', '')}\n{subject}"
    address = claims.get("email") if claims.get("email_verified", True) in (True, "true") else None
    address = address.strip().lower() if isinstance(address, str) and "@" in address else None
    shown = address or next((claims[name] for name in ("preferred_username", "name") if claims.get(name)), subject)
    return User(
        hashlib.blake2b(named.encode(), digest_size=16, person=b"xmlcore user").hexdigest(), str(shown), address
    )


def may_use(who: User) -> bool:
    """Return whether a user is among those in the environment variable; all are if it is not set."""
    listed = [user_name.strip().lower() for user_name in os.environ.get(USERS, "").split(",") if user_name.strip()]
    if not listed:
        return True
    if who.address is None:
        return False
    return who.address in listed or f"@{who.address.rpartition('@')[2]}" in listed


def admitted() -> bool:
    """Return whether this session may see pages; if not, ask for signing in, or say why not."""
    if not needed():
        return True
    who = user()
    if who is None:
        _ask()
    elif not may_use(who):
        st.title("Not a user of this server")
        st.markdown(f"You are signed in as {format.bold(who.name)}. Ask the operator of this server for access.")
        st.button("Sign out", on_click=st.logout)
    else:
        return True
    return False


def _ask():
    st.title("Sign in")
    st.markdown("Sign in to open your workspaces.")
    try:
        import authlib  # noqa: F401  Streamlit imports it when the button is pressed
    except ImportError:
        st.error("The server cannot sign anybody in: its operator needs to install `xmlcore[sign-in]`.")
        return
    st.button("Sign in", on_click=st.login, type="primary")
