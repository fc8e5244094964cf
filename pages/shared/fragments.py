"""Parts of a page that are server.run alone."""

import functools

import streamlit as st

from pages.shared.process import garbage


def alone(draw):
    """Return a part of a page that is run alone, as by ``st.fragment``; garbage is collected after it, too."""

    @functools.wraps(draw)
    def drawn(*args, **named):
        """Draw the part."""
        try:
            draw(*args, **named)
        finally:
            garbage.tidy_later()

    return st.fragment(drawn)
