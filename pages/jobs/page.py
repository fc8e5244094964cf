"""The Jobs page: what runs, what waits for what, and what has ended?"""

import streamlit as st

from pages.jobs import ended, interrupted, live


def main() -> None:
    st.title("Jobs")
    live.say()
    interrupted.show()
    live.show()
    ended.show()


main()
