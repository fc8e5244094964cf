"""Every section can be read and used by everybody: axe-core finds nothing, and the texts of figures have contrast.

test_first_screens.py looks so at what each page opens with.
"""

import pytest
from browsing import PAGES, easy_data

pytestmark = pytest.mark.browser
SCREENS = ((1280, "light"), (400, "dark"))  # a desk, and a phone
DRAWN = ("Train", "Explain", "Trees")  # pages with figures at once

# Streamlit's own navigation has its groups of pages inside one list, which these two rules do not allow, and its
# messages that go away by themselves have no name. Its field for files has a name and no role.
OF_STREAMLIT = {"list", "listitem"}
NOT_OURS = {"exclude": [["[data-testid=stToast]"], ["[data-testid=stFileUploaderDropzone]"]]}
CONTRAST = """() => {
  const parts = color => color.match(/[\\d.]+/g).map(Number);
  const light = rgb => rgb.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const paper = parts(getComputedStyle(document.querySelector("[data-testid=stApp]")).backgroundColor);
  const found = [], ticks = ".js-plotly-plot :is(.xtick, .ytick) text";
  const titles = ".js-plotly-plot :is(.xtitle, .ytitle)";
  for (const text of document.querySelectorAll(`${ticks}, ${titles}`)) {
    const style = getComputedStyle(text), opacity = Number(style.fillOpacity);
    const ink = parts(style.fill).slice(0, 3).map((v, i) => opacity * v + (1 - opacity) * paper[i]);
    const [a, b] = [light(ink), light(paper)].sort((x, y) => y - x);
    found.push((a + 0.05) / (b + 0.05));
  }
  return found;
}"""

FONTS = """() => [...document.querySelectorAll("[data-testid=stApp], .js-plotly-plot text")]
  .map(one => getComputedStyle(one).fontFamily.split(",")[0])"""
PAPER_IS = """color => getComputedStyle(document.querySelector("[data-testid=stApp]")).backgroundColor === color"""


def violations(page, where):
    """What axe-core finds on a page, in words."""
    from axe_playwright_python.sync_playwright import Axe

    found = [v for v in Axe().run(page, context=NOT_OURS).response["violations"] if v["id"] not in OF_STREAMLIT]
    return [f"{where}: {v['id']}: {v['help']}: {[node['html'][:200] for node in v['nodes']]}" for v in found]


class Looks:
    """What was found in looks at pages: what is wrong, the contrasts of axes by places, and the fonts."""

    def __init__(self):
        self.wrong, self.contrasts, self.fonts = [], {}, set()

    def look(self, page, where):
        """Look at a page as it is."""
        page.mouse.move(0, 0)  # no tooltip opens where the pointer was left
        page.wait_for_timeout(300)
        self.wrong += violations(page, where)
        self.contrasts[where] = page.evaluate(CONTRAST)
        self.fonts |= set(page.evaluate(FONTS))
        cut = page.get_by_test_id("stMain").evaluate("main => main.scrollWidth - main.clientWidth")
        self.wrong += [f"{where}: {cut} pixels are cut"] * (cut > 0)

    def check(self, *drawn):
        """All can be read; in the places ``drawn``, there are axes."""
        assert not self.wrong, "\n".join(self.wrong)
        assert len(self.fonts) == 1, f"figures have the font of the page: {self.fonts}"
        assert all(self.contrasts[where] for where in drawn)
        assert min(value for page in self.contrasts.values() for value in page) >= 4.5


@pytest.mark.slow
@pytest.mark.long  # test_first_screens.py looks at what pages open with
def test_every_section_can_be_read_in_light_and_dark(tab, prepared):
    one = tab(f"/train{prepared(easy_data('fruits', named=True), trained=2)}")
    one.text("240 training and 60 test rows")
    one.text("ranks a true label first")
    looks = Looks()
    for page in PAGES:
        one.page.set_viewport_size({"width": SCREENS[0][0], "height": 1000})  # where the links to pages are in sight
        one.go(page)
        for width, scheme in SCREENS:
            one.page.set_viewport_size({"width": width, "height": 1000})
            one.page.emulate_media(color_scheme=scheme)
            one.idle()
            paper = {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 28)"}[scheme]
            one.page.wait_for_function(PAPER_IS, arg=paper)
            one.idle()
            titles = one.page.get_by_role("tab").all_inner_texts()
            sections = [text for text in titles if text] or [""]  # not folded ones
            for section in sections if width == 400 else sections[:1]:
                if section:
                    one.section(section)
                if page in DRAWN and section == sections[0] or (page, section) == ("Data", "Frequency"):
                    one.page.locator(".js-plotly-plot .ytick text").first.wait_for()
                one.page.wait_for_timeout(700)  # until other figures and tables are there
                looks.look(one.page, f"{page} {section}, {width} pixels, {scheme}".replace(" ,", ","))
    looks.check("Train Label by label, 1280 pixels, light", "Data Frequency, 400 pixels, dark")


def test_menus_and_buttons_pointed_at_can_be_read_in_the_dark(tab, prepared):
    one = tab(f"/compare{prepared(easy_data('fruits', named=True), trained=2)}")
    one.page.emulate_media(color_scheme="dark")
    one.section("Is the difference real?")
    one.page.get_by_test_id("stPopover").get_by_role("button", name="Columns").last.click()
    one.page.get_by_role("button", name="Bucket").click()
    one.idle()
    one.page.mouse.move(0, 0)
    one.page.wait_for_timeout(500)  # until colours have changed
    assert one.page.get_by_role("button", name="Bucket", pressed=True).is_visible()
    assert violations(one.page, "Columns") == []
    one.page.keyboard.press("Escape")
    for name in ("How to read this", "Copy a link"):  # of a menu, and of a button
        one.page.get_by_role("button", name=name).first.hover()
        one.page.wait_for_timeout(500)
        assert violations(one.page, f"{name}, pointed at") == []
