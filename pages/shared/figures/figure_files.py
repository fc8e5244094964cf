"""Figures as files: a page that works without a network and saves images, and the facts that each file has."""

import base64
import functools
import gzip
import html
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import plotly.offline
import streamlit as st

import xmlcore
from pages.shared import settings
from pages.shared.workspaces import workspace

HEIGHT = 520  # smallest height of a figure in a downloaded HTML page, in pixels
# A downloaded figure is a page by itself. Its policy lets it load nothing from anywhere, and Plotly make code while it
# runs, with which parallel coordinates are drawn ('unsafe-eval'); the colours are those of
# .streamlit/config.toml.
_PAGE = Path(__file__).with_name("figure.html").read_text(encoding="utf-8")
_AXIS_COLORS = {"gridcolor": "#323b43", "linecolor": "#a9b4bd", "tickcolor": "#a9b4bd"}
_DARK = {
    "font.color": "#e6eaed",
    "paper_bgcolor": "#14181c",
    "plot_bgcolor": "#14181c",
    **{f"{axis}.{name}": color for axis in ("xaxis", "yaxis") for name, color in _AXIS_COLORS.items()},
}


def workspace_now() -> dict:
    """Return the workspace as this run of the script sees it, for :func:`origin`."""
    return st.session_state.get(workspace.SNAPSHOT, {})


def origin(name: str, keys=(), known: dict | None = None) -> dict[str, str]:
    """Return where a figure comes from: its data sets, its results with their settings, the software and the day."""
    known = workspace_now() if known is None else known
    parts, keys = name.split("-"), set(keys)
    every = (*known.get("runs", ()), *known.get("selections", ()))
    records = [record for record in every if record["key"] in keys or record["key"][:6] in parts]
    # The Compare page shows results on other data sets than the one in use.
    fingerprints = [record["fingerprint"] for record in records], [known.get("dataset")]
    names = {fingerprint: entry["name"] for fingerprint, entry in known.get("known", {}).items()}
    of, in_use = (dict.fromkeys(names[one] for one in some if one in names) for some in fingerprints)
    found = {"Data set": "; ".join(of or in_use) or "unknown"}
    results = [(record.get("model") or record.get("method"), record["params"], record["key"]) for record in records]
    if results:
        texts = (f"{model} ({settings.changed(model, params) or 'default settings'})" for model, params, _ in results)
        found["Results"] = "; ".join(texts)
        named = [dict(zip(("of", "params", "key"), result)) for result in results]
        found["Parameters"] = json.dumps(named, sort_keys=True)
    day = datetime.now(UTC).date().isoformat()
    return {**found, "Software": f"xmlcore {xmlcore.__version__}", "Creation Time": day}


def in_words(origin: dict[str, str]) -> str:
    """Return the origin of a figure as a line of text; the parameters in full are only in the files' metadata."""
    sentence = "; ".join(f"{name.lower()}: {origin[name]}" for name in ("Data set", "Results") if name in origin)
    return f"{sentence[:1].upper()}{sentence[1:]}. {origin['Software']}, {origin['Creation Time']}."


def html_page(figure, caption: str, name: str, config: dict, origin: dict[str, str]) -> bytes:
    height = height_of(figure)
    drawn = json.loads(type(figure)(figure).update_layout(height=height).to_json())
    drawing = {
        "data": drawn["data"],
        "layout": drawn["layout"],
        "config": {**config, "modeBarButtonsToRemove": [*config.get("modeBarButtonsToRemove", ()), "toImage"]},
        "name": name,
        "caption": html.unescape(re.sub(r"</?(strong|em|code)>", "", html_of_markdown(caption))),
        "origin": origin,
        "originText": in_words(origin),
    }
    named = {"description": drawing["caption"], "generator": origin["Software"]} | origin
    parts = {
        "title": html.escape(" – ".join(filter(None, (origin["Data set"], figure.layout.title.text)))),
        "meta": "\n".join(f'<meta name="{html.escape(n)}" content="{html.escape(v)}">' for n, v in named.items()),
        "height": str(height),
        "caption": html_of_markdown(caption),
        "origin": html.escape(in_words(origin)),
        # No "<" may be in a script: a name could hold "</script>".
        "drawing": json.dumps(drawing).replace("<", "\\u003c"),
        "library": _library(),
        "font": _font(),
        "dark": json.dumps(_DARK),
    }
    return re.sub("@@([a-z]+)@@", lambda match: parts[match[1]], _PAGE).encode("utf-8")


def height_of(figure) -> int:
    return max(HEIGHT, int(figure.layout.height or 0))


@functools.lru_cache(maxsize=1)
def _library() -> str:
    return base64.b64encode(gzip.compress(plotly.offline.get_plotlyjs().encode("utf-8"), mtime=0)).decode("ascii")


@functools.lru_cache(maxsize=1)
def _font() -> str:
    """Return the font of pages, which comes with Streamlit; nothing where it has none of this name."""
    fonts = [*(Path(st.__file__).parent / "static").rglob("SourceSansVF-Upright*.woff2")]
    return base64.b64encode(fonts[0].read_bytes()).decode("ascii") if fonts else ""


def html_of_markdown(text: str) -> str:
    """Convert Markdown to HTML, as far as captions use it: emphasis, code, and escaping by a backslash."""
    kept = []

    def keep(match):
        """Put an escaped character aside and return a placeholder, so that it is not read as Markdown."""
        kept.append(html.escape(match[1]))
        return f"\0{len(kept) - 1}\0"

    text = html.escape(re.sub(r"\\([!-/:-@[-`{-~])", keep, text.replace("\0", "")), quote=False)
    for mark, tag in ((r"\*\*", "strong"), (r"\*", "em"), ("`", "code")):
        text = re.sub(f"{mark}(.+?){mark}", rf"<{tag}>\1</{tag}>", text)
    return re.sub("\0(\\d+)\0", lambda match: kept[int(match[1])], text)
