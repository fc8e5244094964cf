"""The style of all pages, which comes with the page, so that the first drawing is in its place."""

from pathlib import Path

from pages.shared import addresses

WIDE = "wide trees-whole features-heat-map features-overlap sampling-contributions together-heat".split()
WIDE = f":is({', '.join(f'[class*=st-key-{key}]' for key in WIDE)})"
SHEET = Path(__file__).with_suffix(".css").read_text(encoding="utf-8").partition("*/")[2].replace("@@wide", WIDE)
STYLE = f"<style>\n{SHEET}{addresses.icons_style()}\n</style>"
