"""Draw what surrounds every page: the sidebar and messages."""

import streamlit as st

from pages.shared import accounts, addresses, format, guard, keeping, sections, server, sidebar, tasks, views, workspace

# Streamlit draws texts of figures in a grey that is too pale to read (3.7 to 1); this takes the page's own ink, but for
# white texts on dark marks, and removes the white glow around texts of parallel coordinates. Figures are shown in the
# font of the page, but measured and saved in a font of the system, which is wider: so nothing is cut here or in a file
# that is opened without the font of the page. Streamlit cuts the names of what is chosen in a multiselect; here they go
# on in the next line. The fields that are bound to the address are not shown. Controls that come first on a phone are
# the first of two columns, which a wide page shows at the right. On a phone the tabs of sections go on in the next
# line, so that the open one is in sight, and so do the texts of buttons. A menu would lie on the dialog that it opened.
# The value of a slider and the title of the open section have the colour of text: in dark, the theme's blue on this
# background is too dark to read (3.8 to 1).
STYLE = f"""<style>
.js-plotly-plot text {{ font-family: "Source Sans", sans-serif !important; }}
.js-plotly-plot :is([class^=x], [class^=y])[class$=tick] text, .js-plotly-plot text[class$=title]:not(.gtitle),
.js-plotly-plot .annotation-text {{
  fill: currentColor !important; fill-opacity: 0.75;
}}
.js-plotly-plot :is(.textpoint text, .bartext):not([style*="255, 255, 255"]) {{
  fill: currentColor !important; fill-opacity: 0.75;
}}
.js-plotly-plot .parcoords text {{ fill: currentColor !important; fill-opacity: 0.75; text-shadow: none !important; }}
[data-testid=stMultiSelect] :is([data-tag], [data-baseweb=tag]) {{ max-width: 100%; height: auto; }}
[data-testid=stMultiSelect] :is([data-tag], [data-baseweb=tag]) > span {{
  max-width: none; overflow: visible; white-space: normal; line-height: 1.35; padding-block: 0.15rem;
}}
[data-testid=stMultiSelect] [role=group]:has(> [data-testid=stMultiSelectTagsContainer]) {{
  height: auto; max-height: none;
}}
[data-testid=stMultiSelectTagsContainer] {{
  flex-wrap: wrap; height: auto; max-height: none; min-width: 0; overflow: visible; padding-block: 0.3rem;
  mask-image: none;
}}
[class*=st-key-in-address] {{ display: none; }}
[class*=st-key-controls-first] > * > [data-testid=stHorizontalBlock],
[class*=st-key-controls-first] > [data-testid=stHorizontalBlock] {{ flex-direction: row-reverse; }}
@media (max-width: 640px) {{
  [data-testid=stTabs] [role=tablist] {{ flex-wrap: wrap; row-gap: 0; }}
  [class*=st-key-fields-] {{ display: grid; grid-template-columns: 1fr 1fr; align-items: end; }}
  button[data-testid^=stBaseButton] {{ height: auto; }}
  button[data-testid^=stBaseButton] [data-testid=stMarkdownContainer], button[data-testid^=stBaseButton] p {{
    white-space: normal; overflow: visible;
  }}
}}
[data-testid=stSliderThumbValue], [role=tab][aria-selected=true] {{ color: inherit !important; }}
body:has([data-testid=stDialog]) [data-testid=stPopoverBody] {{ visibility: hidden; }}
[data-testid=stHtml]:not(:empty) {{ container-type: inline-size; }}
.sideways {{ margin: -1rem 0 0; padding-top: 0.25rem; font-size: 0.875rem; opacity: 0.75; }}
{addresses.icons_style()}
</style>"""


def around(page) -> None:
    """Open the workspace, show the sidebar and messages, and run the page; called by app.py."""
    try:
        _draw(page)
    finally:  # also when the page fails, or is drawn once more
        server.tidy_later()


def _draw(page):
    """Do what :func:`around` says."""
    st.html(STYLE)
    if keeping.refused() or not accounts.admitted():
        return
    workspace.open_workspace()
    guard.let_in(workspace.token())
    tasks.collect()
    views.follow()
    with st.container(key="in-address"):  # hidden: see STYLE
        workspace.keep_in_address()
        views.keep()
    place_for_jobs = sidebar.show(page)
    keeping.show_trouble()
    notice()
    keeping.run(page)
    sections.forget_address()
    sidebar.show_jobs(place_for_jobs)
    shown = workspace.get("shown").get(workspace.get("dataset"))
    runs = workspace.get("runs") if shown is None else []
    if shown or runs:
        server.read_ahead(shown or runs[-1]["key"])


def notice() -> None:
    """Show messages of :func:`pages.shared.workspace.notify`, once."""
    for message in workspace.take_notices():
        st.toast(format.plain(message), duration="long")
