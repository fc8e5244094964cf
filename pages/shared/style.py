"""The style of all pages, which comes with the page, so that the first drawing is in its place."""

from pages.shared import addresses

# Texts of figures have the page's own ink, but for white and black ones on marks: Streamlit's grey is too pale (3.7 to
# 1). They are measured and saved in a wider font of the system, so names at an axis are set closer, and nothing is cut.
# Choices in a multiselect, tabs on a phone and texts of buttons go on in the next line. A chosen pill, an open
# section and the like have the colour of text: in dark, the theme's blue is too dark to read (3.8 to 1). Cards are a
# grid of equal columns: at most five, and three for six. Messages come at the bottom: at the top they would lie on the
# first sentence. Where a table cannot be pointed at, its toolbar stands above it; while columns follow at its right, it
# fades there. Streamlit's header lies on the first lines of a wide page: only its buttons take clicks. Fields that are
# bound to the address, and the figure drawn in advance, are not shown.
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
.js-plotly-plot :is(.textpoint text, .bartext, .colorbar text):not([style*="255, 255, 255"], [style*="(0, 0, 0)"]) {{
  fill: currentColor !important; fill-opacity: 0.75;
}}
.stHorizontalBlock:has(> .stElementContainer > .stMetric) {{
  display: grid; align-items: stretch; grid-template-columns: repeat(auto-fit, minmax(max(9rem, 18%), 1fr));
}}
.stHorizontalBlock:has(> .stElementContainer:nth-child(6):last-child > .stMetric) {{
  grid-template-columns: repeat(auto-fit, minmax(max(9rem, 30%), 1fr));
}}
.stElementContainer > .stMetric {{ height: 100%; }}
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
@keyframes more-columns {{
  0%, 99% {{ background: linear-gradient(to left, Canvas 0.5rem, transparent 4rem); }}
  100% {{ background: none; }}
}}
@supports (animation-timeline: scroll()) {{
  .dvn-scroller {{ animation: more-columns linear both; animation-timeline: scroll(self inline); }}
}}
{addresses.icons_style()}
</style>"""
