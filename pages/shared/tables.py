"""Tables of rows, labels and features as pages show them: names first, ids beside them."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.shared import format

LINE = 35  # height of a line, in pixels
COLUMNS = 7  # that a table shows at first; its menu shows the others
TEXT = 200  # characters of a text in a table
LETTER = 7.5  # pixels of a letter of a name, about
WIDEST = 240  # pixels of a column of names that is wider than it must be
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


def with_columns(data, frame: pd.DataFrame) -> pd.DataFrame:
    """Add the columns of the user's table to a table of test rows, or of rows of each ``part``, for a file."""
    if data.columns is None:
        return frame
    lines = np.asarray(frame["row"] + data.n_train * (frame.get("part", "test") == "test"), np.int64)
    return frame.join(data.columns.iloc[lines].set_axis(frame.index).add_prefix("column "))


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


def height(count: int, most: int):
    """Return the height of a table of ``count`` lines: that of its lines, or ``most`` pixels, and then it scrolls."""
    return "content" if LINE * (count + 1) <= most else most


def number(label: str, width: int | None = None, format: str | None = None, help: str | None = None, **settings):
    return st.column_config.NumberColumn(label, width=width, format=format, help=help, **settings)


def bar(label: str, width: int, help: str | None = None, form: str = "%.1f", most: float = 100):
    return st.column_config.ProgressColumn(label, width=width, help=help, format=form, min_value=0, max_value=most)


def text(label: str, width: int | None = None, help: str | None = None, **settings):
    return st.column_config.TextColumn(label, width=width, help=help, **settings)


OF_ROWS = {  # columns of :func:`rows`, and the part that they are in
    "row": number("Row", 65, "%d"),
    "part": text("Part", 75),
    "name": text("Name", 200),
    "text": text("Text", 300),
    "labels": text("Labels", 300),
    "features": number("Features", 75, "%d"),
}


def on_tick(key: str, values, look, *, untick: bool = False) -> dict:
    """Return arguments of :func:`show` for ticking one line, whose value, or None if unticked, is given to ``look``."""

    def tick():
        lines = st.session_state[key]["selection"]["rows"]
        if lines and lines[0] < len(values):
            look(list(values)[lines[0]])
        elif untick:
            look(None)

    return {"on_select": tick, "selection_mode": "single-row"}


def show(frame: pd.DataFrame, key: str, columns: dict, *, signs=None, best=None, first=(), most=None, **settings):
    """Show the named columns of a table in their order, or in ``column_order``.

    A cell may be a tuple of names. Others than the ``first`` columns, in their order, or seven are shown by the menu.
    ``signs`` has formats of columns with a minus, or functions that write a number and its unit; ``best`` says which
    cells are bold, ``most`` is the largest height in pixels.
    """
    if "column_order" not in settings:
        offered = [name for name in columns if name in frame.columns]
        frame = frame if first else frame[offered]
        settings["column_order"] = [name for name in first or offered[:COLUMNS] if name in offered]
    if most is not None:
        settings["height"] = height(len(frame), most)
    for name in (name for name in ("name", "run", "title") if name in frame and columns.get(name, {}).get("width")):
        wanted = min(frame[name].astype(str).str.len().max() * LETTER, WIDEST) if len(frame) else 0
        columns = columns | {name: columns[name] | {"width": int(max(wanted, columns[name]["width"]))}}
    styled = _styled(frame, signs or {}, best)
    return st.dataframe(styled, hide_index=True, key=key, column_config=columns, placeholder="", **settings)


def _styled(frame, signs, best):
    """Return a table with names of a cell in one text, numbers with a minus as they are written, and bold cells."""
    objects = [name for name in frame.columns if frame[name].dtype == object]
    lists = [name for name in objects if frame[name].map(type).eq(tuple).all()]
    frame = frame.assign(**{name: frame[name].map(", ".join) for name in lists})
    styled = frame.style.format({name: _signed(form) for name, form in signs.items()}) if signs else frame
    if best is not None and len(frame) > 1:
        bold = best.map({True: "font-weight: 700", False: ""}.get)
        styled = getattr(styled, "style", styled).apply(lambda _: bold, axis=None, subset=list(best))
    return styled


def _signed(form):
    """Return a function that writes a number as the format or function says, with the minus sign that figures have."""
    write = form if callable(form) else form.format
    return lambda value: "" if pd.isna(value) else write(value).replace("-", "−")


def counted(shown: int, total: int, noun: str, after: str, many: str | None = None) -> None:
    """Say below a table how many lines it shows, of how many; ``after`` says in which order, and what a tick does."""
    st.caption(f"{format.showing(shown, total, noun, many)}, {after}")


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
    found |= np.diff(Y[:, ids_named(data.label_names, data.n_labels, "label", query)].indptr) > 0
    found |= np.diff(X[:, ids_named(data.feature_names, data.n_features, "feature", query)].indptr) > 0
    return np.flatnonzero(found)


def find_labels(labels: pd.DataFrame, query: str) -> pd.DataFrame:
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
    return pd.Series(names, dtype="str").str.contains(query, case=False, regex=False).to_numpy(dtype=bool)


def ids_named(names, count: int, noun: str, query: str) -> np.ndarray:
    """Return the ids, of ``count``, whose name contains ``query``; without names, the id that ``query`` is."""
    if names is not None:
        return np.flatnonzero(_contain(names, query))
    number = query.lower().removeprefix(noun).strip()
    return np.array([int(number)] if number.isdecimal() and int(number) < count else [], dtype=np.int64)


def without_repeated(frame: pd.DataFrame, noun: str, names: str, ids: str) -> pd.DataFrame:
    """Return a table without its ids where names only repeat them: ``label 3``."""
    return frame.drop(columns=ids) if (frame[names] == f"{noun} " + frame[ids].astype(str)).all() else frame


def show_features(frame, key: str, most: int | None = None, none: str = "") -> None:
    """Show the features of a row, or say that it has none, and what follows from that."""
    if frame.empty:
        st.caption(f"This row has no features{none}.")
        return
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


def cards(*values: tuple) -> None:
    """Show metric cards side by side: label (no Markdown), value, help and perhaps a small text below."""
    with st.container(horizontal=True, gap="small"):
        for label, value, help, *below in values:
            small = {"delta": below[0], "delta_color": "off", "delta_arrow": "off"} if any(below) else {}
            st.metric(format.plain(label), value, help=help, border=True, width="stretch", **small)
