"""The dashboard: streamlit run app.py."""

import streamlit as st

from pages.shared import frame

page = st.navigation(
    [
        st.Page("pages/data.py", title="Data", default=True),
        st.Page("pages/train.py", title="Train"),
        st.Page("pages/robustness.py", title="Robustness"),
        st.Page("pages/explain.py", title="Explain"),
        st.Page("pages/trees.py", title="Trees"),
        st.Page("pages/features.py", title="Features"),
        st.Page("pages/sampling.py", title="Sampling"),
    ]
)
st.set_page_config(
    page_title=f"{page.title} – xmlcore",
    page_icon="pages/shared/icon.svg",
    layout="wide",
    initial_sidebar_state="auto",
)
frame.around(page)
