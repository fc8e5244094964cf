"""Tables of rows, labels and features as pages show them: names first, ids beside them."""

import math
import textwrap

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import fields, format
from xmlcore.figures import cut_apart

BORDER, PADDING = 2, 8  # widths of the border of a table, and of what is empty at the end of a cell, in pixels
TICKS = ((100, 32), (1000, 36), (10_000, 44))  # width of the column in which lines are ticked, up to so many lines
CELL, DOTS = 16, 7  # width of the space around a cell's text, and how much wider "…" is than a letter, in pixels
LINE, TALL = 35, 66  # height of a line, and of one that has room for texts over LINES: Streamlit breaks them from 65 on
HEAD = 38  # height of the titles of columns and of the border
NARROWEST, WIDEST = 50, 240  # smallest and largest width of a column without one, in pixels
PAGE = 1042  # width of a table as wide as the page on a laptop, in pixels
SHORT = 12  # letters of texts that are never cut
LINES = 3  # of a text at most
FEW, SCROLLED = 0.25, 0.5  # share of texts that are cut rather than that all lines are tall; of lists in a long table
COLUMNS = 7  # that a table shows at first; its menu shows the others
TEXT = 200  # characters of a text in a table
PARTS = {"training": "train", "test": "test"}


def ticked(lines: list[int]) -> dict:
    """Return arguments of st.dataframe for a table whose first ticked lines are these."""
    return {"selection_default": {"selection": {"rows": lines}}} if lines else {}


def part(data, name: str):
    """Return X, Y and the row names (or None) of ``"training"`` or ``"test"``."""
    suffix = PARTS[name]
    names = getattr(data, f"row_names_{suffix}", None)
    return getattr(data, f"X_{suffix}"), getattr(data, f"Y_{suffix}"), names


def texts(data, name: str) -> list[str] | None:
    """Return the texts of the ``"training"`` or ``"test"`` rows; None where rows are not made from texts."""
    return getattr(data, f"texts_{PARTS[name]}", None)


def shortened(text: str, most: int = TEXT) -> str:
    line = " ".join(text[: 2 * most].split())
    return line if len(line) <= most and len(text) <= 2 * most else f"{line[: most - 1]}…"


def ids(matrix, row: int) -> np.ndarray:
    """Return the columns of a CSR matrix that are not zero in a row."""
    return matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]


def per_row(data, noun: str) -> pd.DataFrame:
    """Count the rows of each part by their number of ``"labels"`` or ``"features"``: ``part``, that, ``rows``."""
    frames = []
    for name in PARTS:
        X, Y, _ = part(data, name)
        rows = np.bincount(np.diff((Y if noun == "labels" else X).indptr))
        frames.append(pd.DataFrame({"part": name, noun: np.arange(rows.size), "rows": rows}))
    frame = pd.concat(frames, ignore_index=True)
    return frame[frame["rows"] > 0].reset_index(drop=True)


def rows(data, part_name: str, chosen) -> pd.DataFrame:
    """Return a table of rows: ``row``, ``name`` and ``text`` (if there are any), ``labels``, number of ``features``."""
    X, Y, names = part(data, part_name)
    whole = texts(data, part_name)
    frame = pd.DataFrame({"row": np.asarray(chosen, dtype=np.int64)})
    if names is not None:
        frame["name"] = [names[i] for i in frame["row"]]
    if whole is not None:
        frame["text"] = [shortened(whole[i]) for i in frame["row"]]
    frame["labels"] = [(*label_names(data, ids(Y, i)),) for i in frame["row"]]
    frame["features"] = [int(X.indptr[i + 1] - X.indptr[i]) for i in frame["row"]]
    return frame


def listed_rows(rows: np.ndarray, first: int | None, most: int) -> np.ndarray:
    """Return up to ``most`` of the rows ``found`` in their order, with ``first``, if it is one of them, in front."""
    listed = rows[:most]
    if first is None or first not in rows:
        return listed
    return np.concatenate([[first], listed[listed != first][: most - 1]])


def label_names(data, labels) -> list[str]:
    return [data.label_name(int(j)) for j in labels]


def features(data, X, row: int) -> pd.DataFrame:
    """Return a table of the features of a row, largest absolute value first: ``feature``, ``id``, ``value``."""
    columns = ids(X, row)
    values = X.data[X.indptr[row] : X.indptr[row + 1]]
    order = np.argsort(-np.abs(values), kind="stable")
    return pd.DataFrame(
        {
            "feature": [data.feature_name(int(j)) for j in columns[order]],
            "id": columns[order],
            "value": values[order].astype(np.float64),
        }
    )


def value_format(values) -> str:
    """Return a printf format for a column of numbers: without decimals for counts, with more for small values."""
    values = np.abs(np.asarray(values, dtype=np.float64))
    values = values[np.isfinite(values)]
    if np.all(values == np.round(values)):
        return "%.0f"
    largest = float(values.max())
    return f"%.{6 if largest < 0.01 else 4 if largest < 10 else 2 if largest < 1000 else 0}f"


def percent_format(values) -> str:
    """Return a printf format for a column of percentages: one decimal, and more where small values need them."""
    # Values near 0 get three decimals at most. No value below 100 is shown as 100, which would be certain; as models
    # compute with single precision, seven decimals are enough for that.
    values = np.asarray(values, dtype=np.float64)
    smallest = np.min(values, where=values > 0, initial=100)
    gap = np.min(100 - values, where=values < 100, initial=100)
    digits = next((digits for digits in (1, 2) if smallest > 0.5 / 10**digits), 3)
    return f"%.{next((more for more in range(digits, 7) if gap > 0.5 / 10**more), 7)}f"


def score_format(values) -> str:
    """Return a printf format for a column of scores between 0 and 1: as for percentages, and two decimals more."""
    return f"%.{int(percent_format(100 * np.asarray(values, dtype=np.float64))[2:-1]) + 2}f"


def moments(label: str, *, hours: bool = False):
    """Return the column of a table with times, which are those of :func:`pages.shared.format.moment`."""
    about = f"In the time zone {format.zone()}.{' To the hour.' * hours}"
    shape = "D MMM, HH [h]" if hours else "D MMM, HH:mm"
    return st.column_config.DatetimeColumn(label, format=shape, width=105, help=about)


def amount_format(values) -> str:
    """Return a printf format for a column of times or sizes: two digits of the least one, three decimals at most."""
    values = np.asarray(values, dtype=np.float64)
    shortest = np.min(values, where=values > 0, initial=100)
    return f"%.{next((digits for digits in (0, 1, 2) if shortest >= 9.95 / 10**digits), 3)}f"


def about_features(frame: pd.DataFrame) -> str:
    """Return the line under a table of a row's features: how many there are, and how they are ordered."""
    values, sizes = frame["value"], frame["value"].abs()
    text = f"{format.count(len(frame), 'feature')} of this row"
    if sizes.min() < sizes.max():
        return f"{text}, largest {'value' if (values >= 0).all() else 'absolute value'} first."
    if values.nunique() > 1:
        return f"{text}."
    return f"{text}, {'each ' if len(frame) > 1 else ''}with the value {format.value(values.iloc[0])}."


def height(count: int, most: int, line: int = LINE) -> int:
    """Return the height in pixels of a table of ``count`` lines: about ``most`` at most, and then of whole lines."""
    whole = line * count + HEAD
    edge = 9  # of the next line, which says that it is there
    return whole if whole <= most else most - (most - HEAD) % line + edge


def widths(frame: pd.DataFrame, columns: dict, shown, most: int = WIDEST, room: int = PAGE) -> dict[str, int]:
    """Return the widths of columns: texts and titles are seen in full, up to their given widths and a page's room."""
    found = {}
    for name, column in columns.items():
        found[name] = column["width"]
        if _is_text(column) or found[name] is None:
            texts = [column["label"] or name, *(frame[name] if _is_text(column) and name in frame else ())]
            found[name] = min(max(math.ceil(max(map(_pixels, texts)) + CELL), NARROWEST), found[name] or most)
    more = sum(found[name] for name in shown) - room
    if more > 0 and (wide := [name for name in shown if _is_text(columns[name]) and found[name] > more + WIDEST]):
        found[max(wide, key=found.get)] -= more
    return found


def _is_text(column) -> bool:
    return column.get("type_config", {}).get("type") == "text"


def number(label: str, width: int | None = None, format: str | None = None, help: str | None = None, **settings):
    return st.column_config.NumberColumn(label, width=width, format=format, help=help, **settings)


def bar(label: str, width: int, help: str | None = None, form: str = "%.1f", most: float = 100):
    """Return a column of numbers from 0 to ``most`` with a bar in each cell."""
    return st.column_config.ProgressColumn(label, width=width, help=help, format=form, min_value=0, max_value=most)


def text(label: str, width: int | None = None, help: str | None = None, **settings):
    return st.column_config.TextColumn(label, width=width, help=help, **settings)


def on_tick(key: str, values, look) -> dict:
    """Return arguments of :func:`show` for ticking one line, whose value among ``values`` is given to ``look``."""

    def tick():
        lines = st.session_state[key]["selection"]["rows"]
        if lines and lines[0] < len(values):
            look(list(values)[lines[0]])

    return {"on_select": tick, "selection_mode": "single-row"}


def show(
    frame: pd.DataFrame,
    key: str,
    columns: dict,
    *,
    signs=None,
    best=None,
    first=(),
    most=None,
    widest=WIDEST,
    **settings,
):
    """Show the named columns of a table in their order, or in ``column_order``, and whether it scrolls sideways.

    A cell may be a tuple of names: where not all fit, it shows the first ones, and how many others there are.
    The reader may choose the others than the ``first``, at most seven. ``signs`` has formats of columns with a minus,
    or functions that write a number and its unit; ``best`` says which cells are bold, ``most`` is the largest height,
    ``widest`` that of columns without a width.
    """
    if "column_order" not in settings:
        offered = [name for name in columns if name in frame.columns]
        frame = frame if first else frame[offered]
        first = first or tuple(offered[:COLUMNS])
        more = {name: columns[name]["label"] or name for name in offered if name not in first}
        if more:
            with st.popover("Columns", icon=":material/view_column:", type="tertiary"):
                field = ".".join([*key.split(".")[:2], "columns"])
                more = fields.several("More columns", more, field, [], widget="pills", selection_mode="multi")
        settings["column_order"] = [name for name in offered if name in {*first, *more}]
    shown = settings["column_order"]
    objects = [name for name in shown if name in frame and frame[name].dtype == object]
    lists = {name: frame[name] for name in objects if frame[name].map(type).eq(tuple).all()}
    frame = frame.assign(**{name: cells.map(", ".join) for name, cells in lists.items()})
    ticks = next((pixels for lines, pixels in TICKS if len(frame) <= lines), 48)
    edges = BORDER + ticks * ("on_select" in settings)
    wide = widths(frame, columns, shown, widest, PAGE - edges)
    columns = {name: column | {"width": wide[name]} for name, column in columns.items()}
    frame, settings["row_height"] = _fitted(frame, columns, shown, lists, most)
    if most is not None:
        settings["height"] = height(len(frame), most, settings["row_height"])
    styled = frame.style.format({name: _signed(form) for name, form in signs.items()}) if signs else frame
    if best is not None and len(frame) > 1:
        bold = best.map({True: "font-weight: 700", False: ""}.get)
        styled = getattr(styled, "style", styled).apply(lambda _: bold, axis=None, subset=list(best))
    event = st.dataframe(styled, hide_index=True, key=key, column_config=columns, placeholder="", **settings)
    width = sum(wide[name] for name in shown) + edges
    st.html(
        f'<p class="sideways s{width}">Not all columns of the table fit here: scroll it sideways.</p>'
        f"<style>@container (min-width: {width - PADDING}px) {{ .sideways.s{width} {{ display: none; }} }}</style>"
    )
    return event


def _fitted(frame, columns, shown, lists=(), most=None) -> tuple[pd.DataFrame, int]:
    """Return a table whose texts fit into their cells, and the height of a line: taller if many texts need that.

    ``lists`` has the tuples of names that texts of some columns are made of.
    """
    lines, cut = 1, {}
    scrolls = most is not None and TALL * len(frame) + HEAD > most
    for name in filter(lambda name: _is_text(columns.get(name, {})), frame.columns):
        room = columns[name]["width"] - CELL
        long = {text: _pixels(text) for text in frame[name] if isinstance(text, str) and len(text) > SHORT}
        wide = {text: pixels / len(text) for text, pixels in long.items() if pixels > room}
        letters = max(int((room - DOTS) / max(wide.values(), default=8)), 8)
        # More lines help only texts that are not mostly one word.
        words = [text for text in wide if max(map(len, text.split()), default=0) > max(len(text) / 2, letters)]
        words = [] if name in lists else words
        texts, few = sorted(wide.keys() - words), SCROLLED if scrolls and name in lists else FEW
        lines = LINES if name in shown and frame[name].isin(texts).sum() > few * len(frame) else lines
        cut[name] = letters, words, texts
    for name, (letters, words, texts) in cut.items():
        if lines > 1:  # which end with a word, so they are not full
            short = cut_apart(words, letters) | _in_lines(texts, lines, letters)
        else:
            short = cut_apart([*words, *texts], letters)
        if name in lists:
            long = {*texts}
            short = {text: _first(of, lines, letters) for text, of in zip(frame[name], lists[name]) if text in long}
        frame = frame.assign(**{name: [short.get(text, text) for text in frame[name]]})
    return frame, LINE if lines == 1 else TALL


def _in_lines(texts, lines: int, letters: int) -> dict[str, str]:
    """Return texts, by text, cut so that each has so many lines of so many letters at most."""
    found, room = {}, lines * (letters - 3)
    while texts:
        found |= cut_apart(texts, room)
        # Long words leave the ends of lines empty.
        texts = [text for text in texts if room > letters and len(textwrap.wrap(found[text], letters)) > lines]
        room -= 3
    return found


def _first(names: tuple, lines: int, letters: int) -> str:
    """Return as many names as there is room for, each cut by itself where it is longer than a line, and ``+4``."""
    cut = [next(iter(cut_apart([name], letters - 3).values())) for name in names]
    for n in range(len(cut), 0, -1):
        text = ", ".join([*cut[:n], *[f"+{len(cut) - n}"] * (n < len(cut))])
        if len(textwrap.wrap(text, letters - 2)) <= lines:  # a cell breaks lines earlier than the mean letter says
            break
    return text


def _pixels(text) -> float:
    """Return how wide a text is in a cell, or a little more."""
    text = str(text).replace("\u00a0", " ")
    wide = 4 * sum(map(text.count, "mwMW@%")) + 3 * (len(text.encode(errors="replace")) - len(text))
    return 7.2 * len(text) - 3 * sum(map(text.count, " .,:;'()[]|fijlrt")) + wide


def _signed(form):
    """Return a function that writes a number as the format or function says, with the minus sign that figures have."""
    write = form if callable(form) else form.format
    return lambda value: "" if pd.isna(value) else write(value).replace("-", "−")


def find_rows(data, part_name: str, query: str) -> np.ndarray:
    """Return rows with ``query`` in their name or text, or in a name of a label or feature; all for an empty query."""
    X, Y, names = part(data, part_name)
    query = query.strip()
    if not query:
        return np.arange(X.shape[0])
    found = np.zeros(X.shape[0], dtype=bool)
    if names is not None:
        found |= _contain(names, query)
    if texts(data, part_name) is not None:
        found |= np.fromiter((query.lower() in text.lower() for text in texts(data, part_name)), bool, found.size)
    found |= _rows_with(Y, _named(data.label_names, data.n_labels, "label", query))
    found |= _rows_with(X, _named(data.feature_names, data.n_features, "feature", query))
    return np.flatnonzero(found)


def find_labels(labels: pd.DataFrame, query: str) -> pd.DataFrame:
    """Return lines of a table of labels: all of them for an empty query."""
    query = query.strip()
    if not query:
        return labels
    names = labels["name"].astype("str").str.casefold()
    named = (names == query.casefold()).to_numpy(dtype=bool)
    numbered = np.zeros(len(labels), dtype=bool)
    if query.isdecimal() and len(query) < 10:
        numbered = (labels["label"] == int(query)).to_numpy(dtype=bool) & ~named
    found = _contain(labels["name"], query) & ~named & ~numbered
    return pd.concat([labels[named], labels[numbered], labels[found]])


def _contain(names, query) -> np.ndarray:
    """Return a mask of the names that contain ``query`` in upper or lower case."""
    return pd.Series(names, dtype="str").str.contains(query, case=False, regex=False).to_numpy(dtype=bool)


def _named(names, count, noun, query) -> np.ndarray:
    """Return a mask of ``count`` ids: those whose name contains ``query``; without names, the id that ``query`` is."""
    if names is not None:
        return _contain(names, query)
    mask = np.zeros(count, dtype=bool)
    number = query.lower().removeprefix(noun).strip()
    if number.isdecimal() and int(number) < count:
        mask[int(number)] = True
    return mask


def _rows_with(matrix, columns) -> np.ndarray:
    """Return a mask of the rows of a CSR matrix that have a nonzero in one of the columns of a mask."""
    having = np.zeros(matrix.shape[0], dtype=bool)
    if columns.any():
        entries = np.flatnonzero(columns[matrix.indices])
        having[np.searchsorted(matrix.indptr, entries, side="right") - 1] = True
    return having


def without_repeated(frame: pd.DataFrame, noun: str, names: str, ids: str) -> pd.DataFrame:
    """Return a table without its ids where names only repeat them: ``label 3``."""
    return frame.drop(columns=ids) if (frame[names] == f"{noun} " + frame[ids].astype(str)).all() else frame


def show_features(frame, key: str, most: int) -> None:
    form = value_format(frame["value"])
    # Streamlit refuses to style more cells; a table that is not styled has hyphens for minus signs.
    negative = bool((frame["value"] < 0).any()) and frame.size <= pd.get_option("styler.render.max_elements")
    show(
        without_repeated(frame, "feature", "feature", "id"),
        key,
        {
            "feature": text("Feature", 140),
            "value": number("Value", 75, None if negative else form),
            "id": number("Id", 65, "%d"),
        },
        signs={"value": f"{{:{form[1:]}}}"} if negative else None,
        most=most,
    )
    st.caption(about_features(frame))


def cards(values: list) -> None:
    """Show metric cards side by side; each is ``(label, value, help)``, and perhaps what stands small below."""
    with st.container(horizontal=True, gap="small"):
        for label, value, help, *below in values:
            small = {"delta": below[0], "delta_color": "off", "delta_arrow": "off"} if any(below) else {}
            st.metric(label, value, help=help, border=True, width="stretch", **small)
