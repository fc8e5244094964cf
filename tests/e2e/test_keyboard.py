"""The keyboard reaches every control, and narrow screens cut no names."""

import re

import pytest
from browsing import easy_data, playwright_error

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# Gives a number to each control that the keyboard should reach, and returns what the controls are called.
CONTROLS = """() => {
  const found = [], kinds = "button, input, textarea, a[href], summary, [role=combobox], [role=slider], [tabindex='0']";
  document.querySelectorAll("[data-n]").forEach(control => delete control.dataset.n);
  for (const control of document.querySelectorAll(kinds)) {
    const style = getComputedStyle(control), apart = style.position === "fixed" || control.offsetParent !== null;
    const beside = control.closest("[aria-hidden=true], [inert], [class*=st-key-in-address], [data-testid=stToast]");
    const group = control.type === "radio" && !control.checked;  // the arrows reach the other ones
    const hidden = style.visibility === "hidden" || !apart;
    if (control.disabled || control.tabIndex < 0 || hidden || beside || group) continue;
    control.dataset.n = found.length;
    found.push(`${control.tagName} ${control.getAttribute("aria-label") || control.innerText || control.title}`);
  }
  return found;
}"""
CUT = """() => [...document.querySelectorAll("[data-testid=stMultiSelect] [data-tag] > span")].filter(name => {
  const box = name.getBoundingClientRect(), field = name.closest("[data-testid=stMultiSelect]").getBoundingClientRect();
  return name.scrollWidth > name.clientWidth + 1 || box.right > field.right || box.bottom > field.bottom + 1;
}).map(name => name.title)"""

PHONE = {"width": 400, "height": 900}
CUT_BUTTONS = """() => [...document.querySelectorAll("button[data-testid^=stBase] [data-testid=stMarkdownContainer]")]
  .filter(text => text.scrollWidth > text.clientWidth + 1).map(text => text.innerText)"""

BUTTON_FIRST = """() => {
  const place = what => document.querySelector(what).getBoundingClientRect().y;
  return place(".st-key-train-PLT-submit button") < place("[data-testid=stDataFrame]");
}"""


def all_controls(page):
    """Number the controls of a page, and return their names, as soon as no more of them come."""
    controls, before = page.evaluate(CONTROLS), None
    while controls != before:
        page.wait_for_timeout(1000)
        controls, before = page.evaluate(CONTROLS), controls
    return controls


def press_tab(page):
    """Go on to the next control, and return its number; None for one that has none."""
    page.keyboard.press("Tab")
    return page.evaluate("Number(document.activeElement.dataset.n ?? NaN)")


def go_to_the_top(page):
    """Let the next Tab go to the first control of the page."""
    page.evaluate("document.body.tabIndex = -1, document.body.focus(), document.body.removeAttribute('tabindex')")


def tab_reaches_every_control_in_the_order_of_the_page(one):
    for page in ("Train", "Compare", "Robustness"):
        one.go(page)
        one.page.get_by_role("button", name="Stop").first.wait_for(state="detached")  # short jobs have ended
        controls, reached = all_controls(one.page), []
        go_to_the_top(one.page)
        for _ in range(2 * len(controls)):  # figures and tables have stops of their own
            reached.append(press_tab(one.page))
            if reached[-1] == len(controls) - 1:
                break
        numbers = [number for number in reached if number == number]  # not nan
        left = [controls[number] for number in range(len(controls)) if number not in numbers]
        assert not left, f"{page}: {left}"
        assert numbers == sorted(numbers), page


def a_phone_cuts_no_names(one):
    """On the Robustness page, which is open."""
    one.page.set_viewport_size(PHONE)
    one.idle()
    field = one.page.get_by_test_id("stMultiSelect")
    for _ in range(5):  # the end of a measurement draws the page anew, which closes an open list
        field.get_by_role("combobox").click()
        try:
            one.page.get_by_role("option").first.click(timeout=5000)
            break
        except playwright_error():
            one.idle()
    one.page.keyboard.press("Escape")
    field.locator("[data-tag]").nth(1).wait_for()
    one.page.wait_for_function(f"({CUT})().length === 0")


def a_phone_shows_the_button_first(one):
    """On the Train page, which is open on a desk."""
    one.section("Label by label")
    button = one.page.get_by_role("button", name=re.compile("^(Train|Show the result)$"))
    places = (button, one.page.get_by_test_id("stDataFrame").first)
    beside = [place.bounding_box()["x"] for place in places]
    one.page.set_viewport_size(PHONE)
    assert beside[0] > beside[1]
    one.page.wait_for_function(BUTTON_FIRST)


def menus_rows_and_buttons_are_used_without_a_mouse_and_cut_nowhere(one):
    page = one.page
    page.get_by_role("button", name="Save").first.click()
    menu = page.get_by_test_id("stPopoverBody")
    menu.get_by_role("button", name="Figure, SVG or PNG").click()
    page.get_by_role("heading", name="Figure to save").wait_for()
    menu.wait_for(state="hidden")
    page.keyboard.press("Escape")  # once: the menu is closed, and does not take the key
    page.get_by_role("heading", name="Figure to save").wait_for(state="detached")
    page.get_by_role("button", name="Save").first.click()
    menu.get_by_role("button", name="Figure, SVG or PNG").click()
    page.frame_locator("[role=dialog] iframe").get_by_label("Add the caption").check()
    page.keyboard.press("Escape")  # which the frame of the figure gets, as it was clicked in
    page.get_by_role("heading", name="Figure to save").wait_for(state="detached")
    one.go("Explain")
    go_to_the_top(page)
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('aria-label')") == "Test row, 0 to 11":
            break
    page.keyboard.press("Control+a")
    page.keyboard.type("7")
    page.keyboard.press("Enter")
    page.get_by_text("Test row 7", exact=True).wait_for()
    one.go("Sampling")
    page.set_viewport_size(PHONE)
    page.get_by_role("button", name="Train DoubleSampling with its default settings").wait_for()
    one.idle()
    assert page.evaluate(CUT_BUTTONS) == []


def test_the_keyboard_reaches_controls_and_a_phone_cuts_nothing(tab, prepared):
    one = tab(f"/train{prepared(easy_data('few', 60), trained=2)}")
    one.text("48 training and 12 test rows")
    one.text("ranks a true label first")
    desk = one.page.viewport_size
    tab_reaches_every_control_in_the_order_of_the_page(one)
    a_phone_cuts_no_names(one)
    one.page.set_viewport_size(desk)
    one.go("Train")
    a_phone_shows_the_button_first(one)
    one.page.set_viewport_size(desk)
    one.idle()
    menus_rows_and_buttons_are_used_without_a_mouse_and_cut_nowhere(one)
