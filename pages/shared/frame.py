"""Draw what surrounds every page: the sidebar and messages."""

import streamlit as st

from pages.shared import addresses, first_results, format, fragments, jobs, keeping, sidebar, tasks, view
from pages.shared.operator import accounts, guard
from pages.shared.process import garbage, reading, turns
from pages.shared.process.serving import serving
from pages.shared.streamlit_fixes import address_fields, downloads
from pages.shared.workspaces import removed, workspace
from xmlcore.state import StateError

_READY = "frame.ready"  # key of st.session_state: whether the hidden figure was drawn
# Streamlit draws texts of figures in a grey that is too pale to read (3.7 to 1); this takes the page's own ink, but for
# white and black texts on marks, and edges texts of parallel coordinates with the page's colour. Figures are shown in
# the font of the page, but measured and saved in a font of the system, which is wider, but for i, l and t, so names at
# an axis are set closer: so nothing is cut here or in a file that is opened without the font of the page. Streamlit
# cuts the names of what is chosen in a multiselect; here they go on in the next line, and the field is as high as
# others beside it. The fields that are bound to the address are not shown, nor is the figure drawn in advance. Controls
# that come first on a phone are the first of two columns, which a wide page shows at the right. On a phone the tabs of
# sections go on in the next line, so that the open one is in sight. Texts of buttons go on in the next line, too. A
# menu would lie on the dialog that it opened. The value of a slider, the title of the open section, a chosen pill, a
# button whose menu is open and one without a border that is pointed at have the colour of text: in dark, the theme's
# blue on this background is too dark to read (3.8 to 1, of the button 1.3 to 1). "Press Enter to apply" stands below
# its field, not on what is typed there. The name of the program stands above the pages. A page is as wide as the window
# up to 1,600 pixels, and begins at its top, beside the menu. Cards are a grid of equal columns: at most five, and three
# for six cards. Messages come at the bottom: at the top they would lie on the first sentence. Where a table cannot be
# pointed at, its toolbar is always there, above it, and has room; while columns follow at its right, it fades there, so
# that no number is cut. The undo stays in sight when the page is scrolled. Streamlit's header lies on the first lines
# of a wide page: only its buttons take clicks.
# Figures that a phone does not squeeze.
WIDE = "wide trees-whole features-heat-map features-overlap sampling-contributions together-heat".split()
WIDE = f":is({', '.join(f'[class*=st-key-{key}]' for key in WIDE)})"
STYLE = f"""<style>
.js-plotly-plot text {{ font-family: "Source Sans", sans-serif !important; }}
.js-plotly-plot [class^=y][class$=tick] text {{ letter-spacing: -0.02em; }}
.js-plotly-plot :is([class^=x], [class^=y])[class$=tick] text, .js-plotly-plot text[class$=title]:not(.gtitle),
.js-plotly-plot .annotation-text {{
  fill: currentColor !important; fill-opacity: 0.75;
}}
.js-plotly-plot :is(.textpoint text, .bartext):not([style*="255, 255, 255"]):not([style*="(0, 0, 0)"]) {{
  fill: currentColor !important; fill-opacity: 0.75;
}}
.stHorizontalBlock:has(> .stElementContainer > .stMetric) {{
  display: grid; align-items: stretch; grid-template-columns: repeat(auto-fit, minmax(max(9rem, 18%), 1fr));
}}
.stHorizontalBlock:has(> .stElementContainer:nth-child(6):last-child > .stMetric) {{
  grid-template-columns: repeat(auto-fit, minmax(max(9rem, 30%), 1fr));
}}
.stElementContainer > .stMetric {{ height: 100%; }}
[class*=st-key-example-] {{ position: relative; }}
[class*=st-key-example-] .js-plotly-plot {{ filter: grayscale(1) opacity(0.55); }}
[class*=st-key-example-] :is(.main-svg, .bg) {{ background: none !important; fill: transparent !important; }}
[class*=st-key-example-]::after {{
  content: "Example"; position: absolute; inset: 0; display: grid; place-items: center; rotate: -12deg;
  font-size: clamp(2.5rem, 10vw, 6rem); font-weight: 600; opacity: 0.15; pointer-events: none;
}}
.js-plotly-plot .parcoords text {{
  fill: currentColor !important; fill-opacity: 0.85;
  text-shadow: none !important; paint-order: stroke; stroke: Canvas; stroke-width: 4px; stroke-linejoin: round;
}}
.js-plotly-plot .parcoords :is(.domain, .tick > line) {{
  stroke: currentColor !important; stroke-opacity: 0.4 !important;
}}
[data-testid=stMultiSelect] :is([data-tag], [data-baseweb=tag]) {{ max-width: 100%; height: auto; }}
[data-testid=stMultiSelect] :is([data-tag], [data-baseweb=tag]) > span {{
  max-width: none; overflow: visible; white-space: normal; line-height: 1.35; padding-block: 0.15rem;
}}
[data-testid=stMultiSelect] [role=group]:has(> [data-testid=stMultiSelectTagsContainer]) {{
  height: auto; max-height: none;
}}
[data-testid=stMultiSelectTagsContainer] {{
  flex-wrap: wrap; height: auto; max-height: none; min-width: 0; overflow: visible; padding-block: 2px;
  mask-image: none;
}}
[data-testid=InputInstructions] {{
  transform: translateY(calc(100% + 2px)); line-height: 0.9rem; height: 0.9rem; white-space: nowrap;
}}
[data-testid=stSidebar] .stCode code {{
  display: block; overflow: hidden; text-overflow: ellipsis; font-size: 0.75rem;
}}
[data-testid=stSidebar] .stCode pre {{ padding: 0.75rem 2.5rem 0.75rem 0.75rem; }}
[data-testid=stSidebar] .stCode pre + * {{ opacity: 1; visibility: visible; }}
[data-testid=stSidebarHeader]::before {{ content: "xmlcore"; font-weight: 600; font-size: 1.125rem; }}
[data-testid=stMainBlockContainer] {{ max-width: 1600px; }}
@media (min-width: 641px) {{
  [data-testid=stMainBlockContainer] {{ padding: 1.25rem 3rem 3rem; }}
  [data-testid=stHeader] {{ background: none; }}
  [data-testid=stHeader], [data-testid=stHeader] :not(button, button *) {{ pointer-events: none; }}
}}
:has(> .st-key-undo-bar) {{ position: sticky; top: 0; z-index: 100; background: Canvas; }}
[class*=st-key-in-address], .st-key-in-advance {{ display: none; }}
[class*=st-key-fields-] {{ display: grid; grid: auto / repeat(auto-fill, minmax(8.5rem, 1fr)); align-items: end; }}
[class*=st-key-controls-first] > * > [data-testid=stHorizontalBlock],
[class*=st-key-controls-first] > [data-testid=stHorizontalBlock] {{ flex-direction: row-reverse; }}
@media (max-width: 640px) {{
  [data-testid=stTabs] [role=tablist] {{ flex-wrap: wrap; row-gap: 0; }}
  .stVerticalBlock:has(> {WIDE} .stPlotlyChart) {{ overflow-x: auto; }}
  .stVerticalBlock:has(> {WIDE} .stPlotlyChart)::before {{
    content: "Scroll sideways to see all."; position: sticky; left: 0; font-size: 0.875rem; opacity: 0.75;
  }}
  [data-testid=stMainBlockContainer] {{ padding-top: 4rem; }}
  [data-testid=stMetricLabel] :is(div, p) {{ white-space: normal !important; }}
  {WIDE}:has(.stPlotlyChart) {{ min-width: 64rem; }}
  :has(> .st-key-undo-bar) {{ top: 3.75rem; }}
}}
button[data-testid^=stBaseButton] {{ height: auto; }}
button[data-testid^=stBaseButton] [data-testid=stMarkdownContainer], button[data-testid^=stBaseButton] p {{
  white-space: normal; overflow: visible;
}}
@media (hover: none) {{ .stElementContainer:has([data-testid=stDataFrame]) {{ margin-top: 1.5rem; }} }}
[data-testid=stToastContainer] {{ top: auto; bottom: 1rem; }}
[data-testid=stSliderThumbValue], [role=tab][aria-selected=true], [data-variant=pills][aria-pressed=true],
[data-testid=stPopoverButton][aria-expanded=true],
[kind=tertiary]:is(:hover, :focus, :active) {{ color: inherit !important; }}
[kind=tertiary]:hover p {{ text-decoration: underline; }}
body:has([data-testid=stDialog]) [data-testid=stPopoverBody] {{ visibility: hidden; }}
[data-testid=stHtml]:not(:empty) {{ container-type: inline-size; }}
@keyframes more-columns {{
  0%, 99% {{ background: linear-gradient(to left, Canvas 0.5rem, transparent 4rem); }}
  100% {{ background: none; }}
}}
@supports (animation-timeline: scroll()) {{
  .dvn-scroller {{ animation: more-columns linear both; animation-timeline: scroll(self inline); }}
}}
.sideways {{ margin: -1rem 0 0; padding-top: 0.25rem; font-size: 0.875rem; opacity: 0.75; }}
{addresses.icons_style()}
</style>"""


def opened() -> bool:
    """Open the workspace, and return whether that was possible; if not, the page says why. Called by app.py."""
    st.html(STYLE)
    if keeping.refused() or not accounts.admitted():
        return False
    try:
        workspace.open_workspace()
    except StateError as error:  # the database is that of a later version, or cannot be read
        st.error(f"Workspaces cannot be read: {format.plain(error.strerror)}")
        return False
    return True


def around(page, folded, make_comparison) -> None:
    """Show the sidebar and messages, and run the page; called by app.py."""
    try:
        with turns.turn():
            _draw(page, folded, make_comparison)
    finally:  # also when the page fails, or is drawn once more
        garbage.tidy_later()


def _draw(page, folded, make_comparison):
    guard.let_in(workspace.token())
    fragments.begin()
    view.follow()  # before what is new is listed, so that an address does not take a data set out of use that just came
    tasks.collect()
    first_results.go_on()
    with st.container(key="in-address", height=1, width=1, border=False):  # a dot until STYLE hides it
        address_fields.keep(workspace.QUERY, workspace.address())
        view.keep()
    place_for_jobs = sidebar.show(page, folded)
    keeping.show_trouble()
    notice()
    with st.container(
        key="undo-bar"
    ):  # always, so that the browser does not draw the page anew when there is nothing to undo
        removed.offer()
    keeping.run(page)
    sidebar.show_jobs(place_for_jobs)
    _follow_jobs()
    _ready_for_figures()
    _read_ahead(make_comparison)


def _follow_jobs():
    """Keep what shows progress up to date, and draw the whole page once something has begun or ended."""
    live, over = fragments.followed()
    looks = []

    def look():
        looks.append(None)
        by_itself = len(looks) > 1  # the first time is a part of the page's own run
        if by_itself and any(is_over() for is_over in over):
            downloads.wait()  # the end of this run may delete a file that was made for a download
            st.rerun()
        for draw in live:
            draw()
        if by_itself:
            downloads.wait()

    if live or over:
        st.fragment(look, run_every=jobs.seconds_between_looks())()


def _ready_for_figures():
    """Draw a hidden figure once: so the browser prepares the library for figures while the user reads the page."""
    if serving.is_set() and not st.session_state.get(_READY):
        st.session_state[_READY] = True
        with st.container(key="in-advance"):  # hidden: see STYLE
            st.plotly_chart({"data": [{"type": "scatter"}]})


def _read_ahead(make_comparison):
    """Have the result shown read in the background, and what the Compare page shows first if there are several."""
    used, name = workspace.get("dataset"), f"compare {workspace.token()}"
    runs = workspace.get("runs")  # also another list when results were imported or brought back
    if reading.is_unread(name, hash(tuple(record["key"] for record in runs))):
        kept = runs, workspace.get("known"), used, workspace.get("widgets")
        if len(kept[0]) > 1:
            reading.read_ahead(lambda: make_comparison(*kept))
    shown = workspace.get("shown").get(used)
    key = shown or (runs[-1]["key"] if runs and shown is None else None)
    if key and reading.is_unread(f"run {key}"):
        reading.read_ahead(lambda: reading.read_run(key))


def notice() -> None:
    for message in workspace.take_notices():
        st.toast(format.plain(message), duration="long")
