"""The Jobs page: what runs, what waits for what, and what has ended?"""

from pages.jobs import ended, live
from pages.shared import door


def draw(ready) -> None:
    live.say()
    ended.show_interrupted()
    live.show()
    ended.show()


door.page("Jobs", draw, door.Page(reads_data=False, needs_data=False))
