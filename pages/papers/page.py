"""Papers: what do the papers say of the four methods, and does it hold, also on the data set in use?

``claims`` lists where the claims of a paper stand, what was published and what was found here. The one that is ticked
has the reason of its verdict, and its repetition; ``repeated`` has the results on the data set in use.
"""

from pages.papers import claims
from pages.shared import door


def draw(ready) -> None:
    listed = claims.choose()
    claims.cards(listed)
    claims.detail(ready, claims.table(ready, listed))


door.page("Papers", draw, door.Always())
