"""Papers: what do the papers say of the four methods, and does it hold, also on the data set in use?"""

from pages.papers import claims
from pages.shared import door


def draw(ready) -> None:
    listed = claims.choose()
    claims.cards(listed)
    claims.detail(ready, claims.table(ready, listed))


door.page("Papers", draw, door.Page(needs_data=False))
