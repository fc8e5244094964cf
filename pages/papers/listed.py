"""The claims of a paper: where they stand, what was published, and what was found here and on the data set in use."""

import pandas as pd
import streamlit as st

from pages.papers import repeated
from pages.shared import fields, tables, view
from xmlcore import papers


def choose() -> str:
    titles = {name: paper.title for name, paper in papers.PAPERS.items()}
    paper = fields.radio("Paper", titles, "papers.paper", label_visibility="collapsed")
    st.caption(f"{papers.PAPERS[paper].citation}.")
    return paper


def claims(paper: str) -> list:
    return [claim for claim in papers.CLAIMS if claim.paper == paper]


def cards(claims) -> None:
    count = pd.Series([claim.verdict for claim in claims]).value_counts()
    texts = {verdict: f"{about[:1].upper()}{about[1:]}." for verdict, about in papers.VERDICTS.items()}
    tables.cards([(name.capitalize(), str(count.get(name, 0)), text) for name, text in texts.items()])


def table(ready, paper: str, claims: list):
    """Show the claims, and return the one that is ticked, or else the first."""
    numbers = [papers.CLAIMS.index(claim) for claim in claims]
    at = view.now().claim
    ticked = numbers.index(at) if at in numbers else 0
    frame = pd.DataFrame(
        {
            "where": [claim.title for claim in claims],
            "says": [claim.says for claim in claims],
            "published": [claim.published for claim in claims],
            "verdict": [claim.verdict for claim in claims],
            "here": [repeated.summary(claim, ready) for claim in claims],
        }
    )
    columns = {
        "where": tables.text("In the paper", 130),
        "says": tables.text("Claim", 400),
        "verdict": tables.text("Verdict", 120, "On data that were to be had. A ticked claim has the reason."),
        "here": tables.text("On your data", 260, "From results of this version on the data set in use. Empty: none."),
        "published": tables.text("Published", 400),
    }
    key = f"papers.table.{paper}"
    tick = tables.on_tick(key, numbers, lambda number: view.look(claim=number))
    tables.show(frame, key, columns, most=420, **tick, **tables.ticked([ticked]))
    st.caption("A ticked claim stands below, with its reason, its values and what repeats it.")
    return claims[ticked]
