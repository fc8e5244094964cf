"""The dashboard: streamlit run app.py."""

import streamlit as st
from starlette.middleware import Middleware

from pages.shared import addresses, frame
from pages.shared.operator import entrance, guard, limits
from pages.shared.process import lifespan

try:
    limits.apply()
except ValueError as error:
    raise SystemExit(f"The dashboard does not start: {error}.") from None

app = st.App(
    addresses.SCRIPT,
    lifespan=lifespan.lifespan,
    middleware=[Middleware(guard.Guard), Middleware(entrance.Entrance)],
)


def show() -> None:
    """Show the page that the address names; pages/main/script.py calls this for every view of a page."""
    is_open = frame.opened()
    page = addresses.navigation()
    st.set_page_config(
        page_title=f"{page.title} – xmlcore",
        page_icon=str(addresses.FOLDER / "shared" / "icon.svg"),
        layout="wide",
        initial_sidebar_state="auto",
    )
    if is_open:
        frame.around(page)


if __name__ == "__main__":  # only Streamlit's AppTest runs this file as the script
    show()
