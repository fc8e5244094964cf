"""The Storage page: what this workspace keeps on the disk, and how much room all results may take."""

import streamlit as st

from pages.shared.process import room
from pages.storage import kept

st.title("Storage")
kept.show(room.inventory())
