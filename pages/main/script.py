"""The script that Streamlit runs for every view of a page: see app.py."""

import app

app.show()
