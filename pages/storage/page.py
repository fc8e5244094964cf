"""The Storage page: what this workspace keeps on the disk, and how much room all results may take."""

from pages.shared import door
from pages.shared.process import room
from pages.storage import kept

door.page("Storage", lambda ready: kept.show(room.inventory()), door.Page(reads_data=False, needs_data=False))
