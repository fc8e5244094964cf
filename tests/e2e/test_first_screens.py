"""What pages open with: a picture or large numbers, few words and controls. Everybody can read and use it.

axe-core finds nothing, and the texts of figures have contrast.
"""

from types import SimpleNamespace

import pytest
from browsing import PAGES, easy_data

from pages.shared import first_results
from tests.pages import making
from xmlcore import datasets, experiment

pytestmark = [pytest.mark.browser, pytest.mark.slow]
MOST_WORDS, MOST_ON_PAGE, MOST_CONTROLS = 120, 300, 25
BARE = ("Jobs",)  # has nothing to draw while nothing runs
DRAWN = ("Train", "Explain", "Trees")  # pages with figures at once
SCREENS = [
    (1440, "light"),
    *(pytest.param(*one, marks=pytest.mark.long) for one in [(1440, "dark"), (400, "light"), (400, "dark")]),
]
# Counts words outside titles, tables, texts of rows and figures, and controls; what is hidden does not count.
MEASURE = """() => {
  const main = document.querySelector("[data-testid=stMain]"), fold = window.innerHeight;
  const drawn = ".js-plotly-plot, .hl-text", data = "table, [role=region], [data-testid=stDataFrame]";
  const help = "[data-testid=stTooltipIcon], [data-testid=stElementToolbar]";
  const apart = `h1, style, ${data}, [data-testid=stIconMaterial], ${drawn}, ${help}`;
  const isSeen = element => {
    const box = element.getBoundingClientRect();
    const hidden = {opacityProperty: true, visibilityProperty: true};
    return box.width > 1 && box.height > 1 && element.checkVisibility(hidden);
  };
  const top = element => element.getBoundingClientRect().top;
  const words = [], walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, range = document.createRange();
    if (node.parentElement.closest(apart) || !isSeen(node.parentElement)) continue;
    range.selectNodeContents(node);
    words.push(...(node.textContent.match(/\\S*[\\p{L}\\p{N}]\\S*/gu) || []).map(() => top(range)));
  }
  const fields = "button, input, textarea, select, a[href], [role=combobox], [role=tab], [role=slider], [role=switch]";
  const controls = [...main.querySelectorAll(fields)].filter(one => isSeen(one) && !one.closest(apart));
  const screens = window.innerWidth < 600 ? 2 : 1;  // a phone shows a picture after one swipe
  const inSight = one => isSeen(one) && top(one) < screens * fold - 100;
  const seen = what => [...main.querySelectorAll(what)].filter(inSight).length;
  return {
    first: words.filter(place => place < fold).length,
    words: words.length,
    controls: controls.filter(one => !controls.some(other => other !== one && other.contains(one))).length,
    figures: seen(drawn),
    cards: seen("[data-testid=stMetric]"),
    uneven: [...main.querySelectorAll(".stHorizontalBlock")].filter(row => new Set([...row.children].filter(
      one => one.querySelector(":scope > .stMetric")).map(one => Math.round(one.offsetWidth))).size > 1).length,
    cut: [...main.querySelectorAll("button p")].filter(
      one => isSeen(one) && one.scrollWidth > one.clientWidth + 1).map(one => one.innerText),
    wide: document.documentElement.scrollWidth - window.innerWidth,
  };
}"""

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
        page.wait_for_timeout(500)  # until figures, tables and colours are there
        self.wrong += violations(page, where)
        self.contrasts[where] = page.evaluate(CONTRAST)
        self.fonts |= set(page.evaluate(FONTS))
        cut = page.get_by_test_id("stMain").evaluate("main => main.scrollWidth - main.clientWidth")
        self.wrong += [f"{where}: {cut} pixels are cut"] * (cut > 0)

    def check(self):
        assert not self.wrong, "\n".join(self.wrong)
        assert len(self.fonts) == 1, f"figures have the font of the page: {self.fonts}"
        assert all(self.contrasts[page] for page in DRAWN)
        assert min(value for page in self.contrasts.values() for value in page) >= 4.5


def measured(tab, pause):
    """What a page has once nothing is computed for it, and it does not change any more."""
    found, before = None, ()
    while found != before or tab.page.get_by_test_id("stProgress").count():
        tab.page.wait_for_timeout(pause)
        tab.idle()
        found, before = tab.page.evaluate(MEASURE), found
    return found


def unlike_the_rule(one, page, width):
    """What a page has on a screen, if that is not as it should be; nothing if it is."""
    one.page.set_viewport_size({"width": width, "height": 900 if width == 1440 else 850})
    for pause in (200, 1000):  # on a busy machine, a page may stand still for a moment before it is ready
        seen = measured(one, pause)
        few = seen["first"] <= MOST_WORDS and seen["words"] <= MOST_ON_PAGE and seen["controls"] <= MOST_CONTROLS
        drawn = seen["figures"] or seen["cards"] >= 3 or page in BARE
        fits = seen["wide"] <= 0 and not seen["uneven"] and not seen["cut"]
        if few and drawn and fits:
            return []
    return [f"{page}, {width} pixels: {seen}"]


def part_of(data, n_train, n_test):
    """The first rows of a data set: with fewer, training and measuring take moments."""
    names = {"label_names": data.label_names, "feature_names": data.feature_names}
    texts = {"texts_train": data.texts_train[:n_train], "texts_test": data.texts_test[:n_test]}
    train, test = (data.X_train[:n_train], data.Y_train[:n_train]), (data.X_test[:n_test], data.Y_test[:n_test])
    return datasets.Dataset(data.name, *train, *test, **names, **texts)


def first_visit(address, data):
    """Give a workspace what a first visit makes unasked, beside a result of PLT; return what pages say then."""
    workspace = SimpleNamespace(token=address[-32:])
    making.train(workspace, "DoubleSampling", data)
    making.train(workspace, "LdSM", data, n_estimators=2)  # with fewer trees and epochs than first results have
    making.select(workspace, "FALS", data, n_epochs=1, n_hidden=4, scoring="sampled", n_scored_rows=50)
    noise, fields = next(one for one in first_results.table(data.fingerprint) if one[0].kind == "robustness")
    with making.fields_of(workspace) as kept:
        for record in kept["runs"]:
            experiment.keep(experiment.task("robustness", {"run": record["key"]}, noise.params))
        experiment.keep(experiment.task("review", {"run": kept["runs"][0]["key"]}))
        for rank, record in enumerate(kept["runs"] + kept["selections"]):
            record["asked"] = -float(rank)  # nobody asked for it
        kept["widgets"] |= fields
    return {"Train": "P@1 against", "Data": "in use. Train", "Compare": "3 side by side", "Robustness": "of P@1",
            "Features": "matter most for", "Review": "Probably wrong",
            "Sampling": "sampled rows", "Trees": "nodes", "Papers": "holds"}  # fmt: skip


@pytest.mark.parametrize(("width", "scheme"), SCREENS)
def test_pages_of_a_first_visit_have_pictures_and_few_words(
    tab, prepared, dashboard, catalog, monkeypatch, width, scheme
):
    monkeypatch.setenv("XMLCORE_CACHE", str(dashboard.cache))
    data = part_of(datasets.load("api-docs"), 1000, 100)
    address = prepared(data, trained=1)
    says = first_visit(address, data)
    one = tab(f"/train{address}")
    one.page.emulate_media(color_scheme=scheme)
    wrong, looks = [], Looks()
    for page in PAGES:
        one.page.set_viewport_size({"width": 1440, "height": 900})  # in which the links to pages are in sight
        one.go(page)
        one.text(says.get(page, page))
        wrong += unlike_the_rule(one, page, width)
        if page in DRAWN:
            one.page.locator(".js-plotly-plot .ytick text").first.wait_for()
        looks.look(one.page, page)
        for section in one.page.get_by_role("tab").all_inner_texts()[1:] if width == 400 else ():
            if section:  # not folded
                one.section(section)
                looks.look(one.page, f"{page} {section}")
    assert wrong == []
    looks.check()


def test_menus_and_buttons_pointed_at_can_be_read_in_the_dark(tab, prepared):
    one = tab(f"/compare{prepared(easy_data('fruits', named=True), trained=2)}")
    one.page.emulate_media(color_scheme="dark")
    for name in ("How to read this", "Copy a link"):  # of a menu, and of a button
        one.page.get_by_role("button", name=name).first.hover()
        one.page.wait_for_timeout(500)
        assert violations(one.page, f"{name}, pointed at") == []
