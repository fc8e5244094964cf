"""Every page can be read and used by everybody: axe-core finds nothing, and the texts of figures have contrast."""

import pytest
from browsing import easy_file, names

pytestmark = pytest.mark.browser

# Streamlit's own navigation has its groups of pages inside one list, which these two rules do not allow, and its
# messages that go away by themselves have no name.
OF_STREAMLIT = {"list", "listitem"}
NOT_OURS = {"exclude": [["[data-testid=stToast]"]]}
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


def violations(page, where):
    """What axe-core finds on a page, in words."""
    from axe_playwright_python.sync_playwright import Axe

    found = [v for v in Axe().run(page, context=NOT_OURS).response["violations"] if v["id"] not in OF_STREAMLIT]
    return [f"{where}: {v['id']}: {v['help']}: {[node['html'][:200] for node in v['nodes']]}" for v in found]


def on_a_phone(one, name):
    """What axe-core finds on the page that a tab shows when it is opened on a phone, in dark; and whether it is cut."""
    phone = one.context.new_page()
    phone.set_viewport_size({"width": 400, "height": 900})
    phone.emulate_media(color_scheme="dark")
    phone.goto(one.page.url)
    phone.get_by_role("heading", name=name, exact=True).wait_for()
    phone.locator("[data-testid=stApp][data-test-script-state=notRunning]").wait_for()
    phone.wait_for_timeout(1000)
    found = violations(phone, f"{name}, on a phone")
    main = phone.get_by_test_id("stMain")
    cut = main.evaluate("main => main.scrollWidth - main.clientWidth")
    phone.close()
    return found + ([f"{name}, on a phone: {cut} pixels are cut"] if cut > 0 else [])


@pytest.mark.slow
def test_axe_finds_nothing_and_axes_can_be_read_in_light_and_dark(tab):
    one = tab()
    one.upload(
        Training_file=("fruits.txt", easy_file()),
        Label_names=("labels.txt", names("fruit", 12)),
        Feature_names=("words.txt", names("word", 24)),
    )
    one.text("300 rows, 24 features, 12 labels")
    one.train()
    wrong, contrasts = [], {}
    for page in ("Data", "Train", "Explain", "Robustness", "Trees", "Features", "Sampling"):
        one.go(page)
        for scheme in ("light", "dark"):
            one.page.emulate_media(color_scheme=scheme)
            one.page.wait_for_timeout(1000)  # until all has the new colours
            one.idle()
            wrong += violations(one.page, f"{page}, {scheme}")
            contrasts[page, scheme] = one.page.evaluate(CONTRAST)
            paper = one.page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
            assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 28)"}[scheme]
        wrong += on_a_phone(one, page)
    assert not wrong, "\n".join(wrong)
    assert contrasts["Train", "light"] and contrasts["Data", "dark"]
    assert min(value for page in contrasts.values() for value in page) >= 4.5
