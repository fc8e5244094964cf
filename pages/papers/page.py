"""Papers: what do the papers say of the four methods, and does it hold, also on the data set in use?

Files beside this one: ``listed`` (the claims of a paper), ``detail`` (the one that is ticked, with what repeats it),
``repeated`` (results on the data set in use: in words, and drawn).
"""

from pages.papers import detail, listed
from pages.shared import door


def draw(ready) -> None:
    paper = listed.choose()
    claims = listed.claims(paper)
    listed.cards(claims)
    ticked = listed.table(ready, paper, claims)
    detail.show(ready, ticked)


door.page("Papers", draw, door.Always())
