"""What pages open with: a picture or large numbers, few words and controls, and all of it can be read."""

from types import SimpleNamespace

import pytest
from browsing import PAGES

from pages.shared import first_results
from tests.e2e.test_legible import DRAWN, Looks
from tests.pages import making
from xmlcore import datasets, experiment

pytestmark = [pytest.mark.browser, pytest.mark.slow]
MOST_WORDS, MOST_ON_PAGE, MOST_CONTROLS = 120, 300, 25
BARE = ("Jobs",)  # has nothing to draw while nothing runs
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


def measured(tab, pause):
    """What a page has once nothing is computed for it, and it does not change any more."""
    found, before = None, ()
    while found != before or tab.page.get_by_test_id("stProgress").count():
        tab.page.wait_for_timeout(pause)
        tab.idle()
        found, before = tab.page.evaluate(MEASURE), found
    return found


def unlike_the_rule(one, page, scheme, width):
    """What a page has on a screen, if that is not as it should be; nothing if it is."""
    one.page.emulate_media(color_scheme=scheme)
    one.page.set_viewport_size({"width": width, "height": 900 if width == 1440 else 850})
    for pause in (200, 1000):  # on a busy machine, a page may stand still for a moment before it is ready
        seen = measured(one, pause)
        few = seen["first"] <= MOST_WORDS and seen["words"] <= MOST_ON_PAGE and seen["controls"] <= MOST_CONTROLS
        drawn = seen["figures"] or seen["cards"] >= 3 or page in BARE
        fits = seen["wide"] <= 0 and not seen["uneven"] and not seen["cut"]
        if few and drawn and fits:
            return []
    return [f"{page}, {scheme}, {width} pixels: {seen}"]


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
        for record in kept["runs"] + kept["selections"]:
            record["asked"] = -1.0  # nobody asked for it
        kept["widgets"] |= fields
    return {"Train": "P@1 against", "Data": "New here?", "Compare": "3 side by side", "Robustness": "of P@1",
            "Features": "matter most for", "Sampling": "sampled rows", "Trees": "nodes"}  # fmt: skip


def test_every_page_of_a_first_visit_has_a_picture_and_few_words(tab, prepared, dashboard, catalog, monkeypatch):
    monkeypatch.setenv("XMLCORE_CACHE", str(dashboard.cache))
    data = part_of(datasets.load("api-docs"), 1000, 100)
    address = prepared(data, trained=1)
    says = first_visit(address, data)
    one = tab(f"/train{address}")
    one.page.set_viewport_size({"width": 1440, "height": 900})
    wrong, looks = [], Looks()
    for at, page in enumerate(PAGES):
        one.go(page)
        one.text(says.get(page, page))
        scheme = ("light", "dark")[at // 2 % 2]  # schemes differ in colours, which take no room
        for width in (400, 1440):  # last the one in which the links to pages are in sight
            wrong += unlike_the_rule(one, page, scheme, width)
            if width == (400, 1440)[at % 2]:
                if page in DRAWN:
                    one.page.locator(".js-plotly-plot .ytick text").first.wait_for()
                looks.look(one.page, f"{page}, {width} pixels, {scheme}")
    assert wrong == []
    looks.check("Train, 1440 pixels, light")
