"""The dashboard: streamlit run app.py."""

import streamlit as st

from pages.shared import frame

PAGES = ("Data", "Train", "Robustness", "Explain", "Trees", "Features", "Sampling")  # the first one is at "/"

page = st.navigation(
    [
        st.Page(f"pages/{name.lower()}/page.py", title=name, url_path=name.lower(), default=name == PAGES[0])
        for name in PAGES
    ]
)
st.set_page_config(
    page_title=f"{page.title} – xmlcore",
    page_icon="pages/shared/icon.svg",
    layout="wide",
    initial_sidebar_state="auto",
)
frame.around(page)
