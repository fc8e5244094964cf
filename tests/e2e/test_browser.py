"""A real browser on a real server with real worker processes."""

import csv
import io
import re
import struct
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest
from browsing import PAGES, easy_data, easy_file, names

from tests.pages import making
from xmlcore import LdSM

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_a_first_visit_of_a_page_has_everything_around_it(tab):
    one = tab("/train")  # stays the first test: only an untouched server can go wrong here
    links = one.page.get_by_test_id("stSidebar").get_by_role("link")
    seen = set()
    while not one.page.get_by_role("heading", name="Train", exact=True).is_visible():
        seen.update(links.all_inner_texts())
        one.page.wait_for_timeout(20)
    assert seen <= set(PAGES) == set(links.all_inner_texts())  # no names of files
    assert not one.page.get_by_role("dialog").count()  # no "Page not found"
    one.text("Data set in use")
    # The library for figures is prepared while the user reads a page without figures.
    loaded = "entry => entry.name.includes('PlotlyChart') && entry.initiatorType === 'script'"
    one.page.wait_for_function(f"performance.getEntriesByType('resource').some({loaded})")
    one.page.get_by_role("button", name="Train", exact=True).wait_for()  # the data set was prepared
    assert re.search(r"/train\?workspace=[0-9a-f]{32}$", one.page.url)


def test_back_walks_through_rows_and_an_address_shows_the_same(tab, prepared):
    one = tab(f"/train{prepared(easy_data('few', 60), trained=True)}")
    one.text("ranks a true label first")
    one.idle()
    one.section("Single predictions")
    row = one.page.get_by_role("spinbutton", name="Test row")
    for number in ("5", "9"):
        row.fill(number)
        row.press("Enter")
        one.page.get_by_text(f"Test row {number}", exact=True).wait_for()
        one.page.wait_for_url(re.compile(rf"\.row-{number}\b"))
        one.idle()
    copied = one.page.url
    one.page.go_back()
    one.page.get_by_text("Test row 5", exact=True).wait_for()
    assert row.input_value() == "5"
    one.idle()
    again = tab(re.sub(r"^https?://[^/]+", "", copied))
    again.page.get_by_text("Test row 9", exact=True).wait_for()
    before, first = one.page.url, one.page.evaluate("history.length")
    token = re.search(r"workspace=[0-9a-f]{32}", before)[0]
    assert one.go("Explain") + one.go("Trees") == 2, "a page takes one click"
    assert one.page.evaluate("history.length") == first + 1, "two more, and row 9 is no longer ahead"
    for page, act in (("Explain", "go_back"), ("Train", "go_back"), ("Explain", "go_forward"), ("Train", "go_back")):
        getattr(one.page, act)()
        one.page.get_by_role("heading", name=page, exact=True).wait_for()
        one.idle()
        assert f"/{page.lower()}?" in one.page.url and token in one.page.url
    assert one.page.url == before and "section=Single" in before
    assert one.page.evaluate("history.length") == first + 1
    one.page.get_by_test_id("stSidebar").get_by_text("Copy a link").click()
    for name in ("Explain", "Storage", "Compare"):  # the links stay in sight
        one.page.get_by_role("tab", name="Read-only").wait_for()
        one.link(name).click()
        one.page.get_by_role("heading", name=name, exact=True).wait_for()
        one.page.wait_for_timeout(1000)  # a page that went blank did so after its title
        one.idle()
        assert len(one.page.get_by_test_id("stMain").inner_text()) > 100, name


def look_at_figure_file(tab, folder, name, content):
    """A downloaded figure draws itself from a disk without a network, and offers nothing but looking and images."""
    path = folder / name
    path.write_bytes(content)
    wrong = []
    for scheme, paper in (("light", "white"), ("dark", "#14181c")):
        page = tab.context.new_page()
        page.emulate_media(color_scheme=scheme)
        page.on("request", lambda request: wrong.append(request.url))
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(path.as_uri())
        page.locator("#figure .main-svg .trace").first.wait_for()
        assert page.title() == "fruits – Measures at k"
        page.get_by_text("Each line is the mean of a measure").wait_for()
        buttons = [b.get_attribute("data-title") for b in page.locator(".modebar-btn").all()]
        assert {"Save as SVG", "Save as PNG"} <= set(buttons)
        assert not any(word in b.lower() for b in buttons for word in ("share", "cloud", "upload", "edit"))
        assert page.evaluate("document.getElementById('figure')._fullLayout.paper_bgcolor") == paper
        if scheme == "dark":  # where it could go wrong
            look_at_images(page, path.stem)
        page.close()
    assert [what for what in wrong if not what.startswith(("file:", "data:", "blob:"))] == []


def look_at_images(page, stem):
    """The images of a figure say where it comes from, are white on a dark screen too, and have the caption if asked."""
    heights = []
    for below in (False, True):
        page.locator("#below").set_checked(below)
        svg = saved(page, "Save as SVG", f"{stem}.svg").decode()
        about = re.search("<metadata>(.*?)</metadata>", svg)[1]
        assert "fruits" in about and "PLT" in about and "xmlcore" in about and 'fill="#14181c"' not in svg
        assert ("Each line is the mean" in svg.split("</metadata>")[1]) == below
        heights.append(int(re.search(r'height="(\d+)"', svg)[1]))
    png = saved(page, "Save as PNG", f"{stem}.png")
    assert png.startswith(b"\x89PNG") and b"tEXtData set\0fruits" in png and b"tEXtResults\0PLT" in png
    assert heights[1] > heights[0] and struct.unpack(">I", png[20:24])[0] == 3 * heights[1]
    at = 8
    while at < len(png):  # every chunk is whole
        (size,) = struct.unpack(">I", png[at : at + 4])
        body, check = png[at + 4 : at + 8 + size], png[at + 8 + size : at + 12 + size]
        assert struct.unpack(">I", check)[0] == zlib.crc32(body)
        at += 12 + size


def saved(page, button, name):
    """The file that a button of a downloaded figure saves."""
    with page.expect_download() as caught:
        page.get_by_role("button", name=button).first.click()
    assert caught.value.suggested_filename == name
    return Path(caught.value.path()).read_bytes()


def test_a_file_is_uploaded_trained_on_and_found_again(tab, tmp_path):
    one = tab()
    one.page.get_by_test_id("stExpander").get_by_text("Add a data set").click()
    one.choose("Training file", "broken.txt", b"2 4 3\n0,1 0:1.0 3:0.5\n2 1:abc\n")
    one.read()
    one.text(re.compile(r"broken\.txt, line 3, column \d+"))
    one.choose("Training file", "fruits.txt", easy_file())
    for said in ("broken.txt is XMLC text", "broken.txt, line 3"):
        one.page.get_by_text(said).wait_for(state="hidden")
    one.choose("Label names", "labels.txt", names("fruit", 12))
    one.choose("Feature names", "words.txt", names("word", 24))
    one.read()
    one.text("300 rows, 24 features, 12 labels")
    one.train()
    measures = one.measures()
    assert measures["P@1"] > 95 > measures["P@5"] > 30

    name, content = one.download("Data, CSV", of=1)
    assert name.startswith("fruits-PLT-") and name.endswith("-measures.csv")
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    p_at = {int(r["k"]): float(r["value"]) for r in rows if r["measure"] == "P@k"}
    assert sorted(p_at) == [1, 2, 3, 4, 5]
    assert [round(100 * p_at[k], 1) for k in (1, 5)] == [measures["P@1"], measures["P@5"]]

    one.section("Single predictions")
    name, content = one.download("All predictions, CSV")
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    assert {r["row"] for r in rows} == {str(i) for i in range(60)}
    assert all(r["name"] == f"fruit {r['label']}" for r in rows)
    first = [r["true"] == "True" for r in rows if r["rank"] == "1"]
    assert 100 * sum(first) / len(first) == pytest.approx(measures["P@1"], abs=0.06)

    name, content = one.download("Figure, HTML", of=1)
    assert name.endswith(".html")
    look_at_figure_file(one, tmp_path, name, content)

    one.page.reload()
    one.text("ranks a true label first")
    assert one.measures() == measures
    one.go("Data")
    one.text("300 rows, 24 features, 12 labels")
    one.go("Train")
    assert one.measures() == measures

    again = tab(one.page.url.removeprefix(re.match(r"https?://[^/]+", one.page.url)[0]))
    again.text("ranks a true label first")
    assert again.measures() == measures


def test_settings_typed_just_before_the_page_is_left_are_kept(tab, prepared):
    one = tab(f"/train{prepared(easy_data('few', 60))}")
    one.text("48 training and 12 test rows")
    one.idle()
    assert one.page.title() == "Train – xmlcore"
    field = one.setting("Max labels per leaf")
    drawn = one.page.locator("[data-testid=stApp][data-test-script-state=notRunning]")
    for _ in range(3):  # Streamlit drops a change that arrives while the end of a job reruns the page
        drawn.wait_for()  # what is typed into a page that is still being drawn may be drawn over
        one.page.wait_for_timeout(1000)  # which takes longer where the machine is busy
        field.fill("7")
        # Nothing else was clicked. Streamlit drops a change that it reads together with the next page, as it does on a
        # busy machine, so the button of the mouse is held down for a moment.
        one.link("Data").click(delay=500)
        one.page.get_by_role("heading", name="Data", exact=True).wait_for()
        assert one.page.title() == "Data – xmlcore"
        one.go("Train")
        drawn.wait_for()
        one.page.wait_for_timeout(1000)
        field = one.setting("Max labels per leaf")
        if field.input_value() == "7":
            break
    assert field.input_value() == "7"


def test_settings_move_nothing_and_published_ones_stay(tab, prepared):
    from playwright.sync_api import expect

    one = tab(f"/train{prepared(easy_data('few', 60), trained=1)}")
    one.page.set_viewport_size({"width": 1440, "height": 900})
    one.text("this is the result shown")
    one.idle()
    train, section = one.page.get_by_role("button", name="Train", exact=True), one.page.get_by_role("tab").first
    before = section.bounding_box()
    field = one.setting("Trees")
    assert section.bounding_box() == before and before["y"] < 900
    assert field.bounding_box()["y"] > train.bounding_box()["y"]
    train.click(trial=True)

    def take(preset):
        one.idle()
        one.page.get_by_role("button", name="Settings: ").click()
        one.page.get_by_text(preset).last.click()

    one.until(lambda: take("As in Parabel (paper)"), re.compile("Differs from recommended in: .*Prabhu et al"))
    trees = one.setting("Trees")
    expect(trees).to_have_value("3")  # the fields are drawn after the words above them

    def five():
        one.idle()
        trees.fill("5")
        trees.press("Enter")

    # A browser reports the fields that were replaced once more: their old values must not come back.
    one.until(five, re.compile("Differs from recommended in: .*Max labels per leaf = 100.*Trees = 5"))
    one.until(lambda: take("Recommended"), "Recommended settings are the defaults.")
    expect(trees).to_have_value("1")


def test_training_is_seen_beside_its_button_on_a_phone(tab):
    one = tab("/train")
    one.page.set_viewport_size({"width": 400, "height": 860})
    one.text("training and")
    one.setting("Trees").fill("40")
    button = one.page.get_by_role("button", name="Train", exact=True)
    button.click()
    stop = one.page.get_by_test_id("stMain").get_by_role("button", name="Stop")
    stop.wait_for()
    assert 0 < stop.bounding_box()["y"] - button.bounding_box()["y"] < 350
    assert one.page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= 400
    stop.click()
    one.text("Stopped")
    one.text("No model has been trained")


def test_a_deletion_is_undone_wherever_the_page_is_scrolled(tab, prepared):
    one = tab(f"/storage{prepared(easy_data('small', 200, 10), trained=1)}")
    undo = one.page.get_by_role("button", name="Undo")
    for place in (0, 10_000):
        one.text("the largest first")
        one.idle()
        table = one.page.get_by_test_id("stDataFrame").first
        table.scroll_into_view_if_needed()
        box = table.bounding_box()
        one.page.mouse.click(box["x"] + 20, box["y"] + 55)
        one.page.get_by_role("button", name="Delete", exact=True).click()
        undo.wait_for()
        one.page.evaluate(f"document.querySelector('[data-testid=stMain]').scrollTop = {place}")
        one.page.wait_for_timeout(300)
        box = undo.bounding_box()
        one.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        undo.wait_for(state="detached", timeout=15_000)


def test_the_button_for_more_data_opens_and_shows_its_box(tab, prepared):
    one = tab(f"/{prepared(easy_data('add', 60))}")
    upload = one.page.get_by_role("tab", name="Upload data", exact=True)
    button = one.page.get_by_role("button", name="Add data", exact=True)
    seen = """height => [...document.querySelectorAll("[role=tab]")].some(
      tab => tab.innerText.includes("Upload data") && tab.getBoundingClientRect().bottom < height / 2)"""
    one.page.set_viewport_size({"width": 1280, "height": 600})
    button.wait_for()
    one.idle()
    assert not upload.is_visible()
    button.click()
    upload.wait_for()
    one.page.wait_for_function(seen, arg=600, timeout=20_000)


def test_on_a_phone_the_parts_of_a_table_lie_on_nothing(tab, prepared):
    phone = {"viewport": {"width": 400, "height": 850}, "has_touch": True, "is_mobile": True}
    one = tab(f"/storage{prepared(easy_data('phone', 200, 10), trained=1)}", **phone)
    one.text("the largest first")
    one.idle()
    above = """table => {
      let one = table.closest(".stElementContainer");
      while (!one.previousElementSibling) one = one.parentElement;
      return one.previousElementSibling.getBoundingClientRect().bottom;
    }"""
    table = one.page.get_by_test_id("stDataFrame").first
    top = one.page.get_by_test_id("stElementToolbarButtonContainer").first.bounding_box()["y"]
    assert table.evaluate(above) <= top < table.bounding_box()["y"]
    room = table.evaluate("table => table.closest('.stElementContainer').getBoundingClientRect().bottom")
    lines = table.locator(".dvn-scroller").first.bounding_box()
    assert lines["y"] + lines["height"] <= room


def test_nodes_of_a_tree_are_clicked(tab, prepared):
    data = easy_data("groups", 400, named=True)
    address = prepared(data)  # its cache is that of the dashboard from here on
    making.train(SimpleNamespace(token=address[-32:]), "LdSM", data, n_estimators=2)
    one = tab(f"/trees{address}")
    one.text("Tree 1 below the root")
    one.idle()
    tree = LdSM(n_estimators=1).fit(data.X_train, data.Y_train).trees_[0]
    node = next(j for j in range(1, 3) if tree.children[j, 0] >= 0)
    one.click_node(node)
    one.page.get_by_role("heading", name=f"Node {node} of tree 1").wait_for()
