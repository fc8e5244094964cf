"""The grammar of all figures: lines, points, bands, bars, boxes, heat and notes, on the axes of one or more panels."""

import copy
import functools

import numpy as np

from xmlcore.figures import _style as ink
from xmlcore.figures._axes import name_axis, small_looks_small
from xmlcore.figures._names import short
from xmlcore.figures._style import Figure, make_subplots, shade

LINE = 24  # height of a bar, in pixels
AROUND = 150  # height of the space above and below the bars, in pixels
LENGTH = 150  # of a colour bar, in pixels
COLOR_BAR = {"orientation": "h", "thickness": 10, "len": LENGTH, "lenmode": "pixels", "x": 0, "xpad": 0,
             "xanchor": "left", "tickangle": 0, "tickfont": {"size": 11}}  # fmt: skip
CELL = 17  # height of a row of a heat map, in pixels
LETTERS = 18  # most letters of a name beside a heat map
NO_EDGE = {"width": 0}
ZERO = {"zeroline": True, "zerolinecolor": ink.MARK, "zerolinewidth": 1.5}  # of the axis of bars that go both ways


class Drawing:
    """Traces and a layout as plain dicts, which Plotly checks all at once: part by part takes ten times as long.

    ``facts``, and how many points are drawn and there, which are numbers or frames, are the ``meta`` of the figure.
    """

    def __init__(self, title: str, shown, total=None, **facts: object):
        total = shown if total is None else total
        shown, total = (each if isinstance(each, (int, float)) else len(each) for each in (shown, total))
        self.facts = {"shown": int(shown), "total": int(total), **facts}
        self.traces: list[dict] = []
        self.layout: dict = {}
        self.rows = self.columns = 1  # of panels
        font = {"font": {"family": ink.FONT}}  # not of the template, which the dashboard's theme replaces
        # Below the buttons that the dashboard and notebooks show at the top right, which would lie on a long title.
        place = {"y": 1, "yref": "container", "yanchor": "top", "pad": {"t": ink.BUTTONS}}
        self.axes(title={"text": title, **font, **place}, hoverlabel=font, **font)
        if lines := title.count("<br>"):
            self.axes(margin_t=ink.TOP + ink.TITLE_LINE * lines)

    def checked(self, x="", y="", *, whole: float | None = None, **layout) -> Figure:
        """Return the figure, with the last settings of :meth:`axes`; ``whole``: see :func:`small_looks_small`."""
        self.axes(x, y, **layout)
        if whole is not None:
            small_looks_small(self, whole)
        return Figure({"data": self.traces, "layout": {"template": ink.TEMPLATE, "meta": self.facts, **self.layout}})

    def axes(self, x="", y="", *, row=None, col=None, **layout) -> None:
        """Give the axes titles, or all settings, in these panels or in all; and the figure what else is set."""
        for letter, axis in (("x", x), ("y", y)):
            for panel in self.panels_at(row, col) if axis else ():
                _set(self.layout, {f"{letter}axis{panel}": {"title_text": axis} if isinstance(axis, str) else axis})
        _set(self.layout, layout)

    def panels_at(self, row=None, col=None) -> list[str]:
        """Return what stands behind "x" and "y" in the names of the axes of these panels; None is every one."""
        places = [divmod(at, self.columns) for at in range(self.rows * self.columns)]
        return [str(at + 1) if at else "" for at, (down, right) in enumerate(places)
                if row in (None, down + 1) and col in (None, right + 1)]  # fmt: skip

    def panels(self, rows: int, columns: int, titles=(), **layout) -> "Drawing":
        """Divide the figure into panels, those of a row with one vertical axis."""
        self.rows, self.columns = rows, columns
        _set(self.layout, copy.deepcopy(_panels(rows, columns, (*titles,), **{"shared_yaxes": True} | layout)))
        return self

    def add(self, kind: str, *, row=None, col=None, **trace) -> None:
        """Add a trace of a kind that Plotly knows, in a panel if there are several."""
        if row is not None:
            (panel,) = self.panels_at(row, col)
            trace |= {"xaxis": f"x{panel}", "yaxis": f"y{panel}"}
        self.traces.append({"type": kind, **trace})

    def line(
        self, x, y, name, color, hover, *, between=None, mark=None, size=8.0, width=2.0, dash=None, **trace
    ) -> None:  # fmt: skip
        """Draw points with a line through them, all in one colour; ``hover`` is said where one points at them.

        ``between`` are the ends of a band around the line, whose ``legendgroup`` it has, so that a click hides both.
        """
        if between is not None:
            edge = {"mode": "lines", "line": NO_EDGE, "hoverinfo": "skip", "showlegend": False}
            for end, fill in zip(between[::-1], ({}, {"fill": "tonexty", "fillcolor": shade(color)})):
                self.add("scatter", x=x, y=end, legendgroup=trace["legendgroup"], **edge, **fill)
        line, marker = {"color": color, "width": width, "dash": dash}, {"symbol": mark, "size": size, "color": color}
        look = {"mode": "lines+markers", "line": line, "marker": marker, "hovertemplate": f"{hover}<extra></extra>"}
        self.add("scatter", x=x, y=y, name=name, **look | trace)

    def stroke(self, x, y, color, width=1.5, dash=None, **trace) -> None:
        """Draw a line without points and without hover texts."""
        quiet = {"mode": "lines", "hoverinfo": "skip", "showlegend": False}
        self.add("scatter", x=x, y=y, line={"color": color, "width": width, "dash": dash}, **quiet | trace)

    def points(self, x, y, name, marker, hover, **trace) -> None:
        """Draw points without a line."""
        look = {"mode": "markers", "marker": marker, "hovertemplate": f"{hover}<extra></extra>"}
        self.add("scatter", x=x, y=y, name=name, **look | trace)

    def rule(self, at, *, level=False, color=ink.MARK, width=1.5, dash="dot", row=None, col=None, **look) -> None:
        """Draw a line across the plot at a value: of the horizontal axis, or of the vertical one for a ``level``."""
        along, across = ("y", "x") if level else ("x", "y")
        for panel in self.panels_at(row, col):
            ends = {f"{along}0": at, f"{along}1": at, f"{across}0": 0, f"{across}1": 1}
            axes = {f"{along}ref": f"{along}{panel}", f"{across}ref": f"{across}{panel} domain"}
            line = {"color": color, "width": width, "dash": dash}
            self.layout.setdefault("shapes", []).append({"type": "line", "line": line, **ends, **axes, **look})

    def note(self, text: str, x, **place: object) -> None:
        """Write a small text above the plot at a place of its horizontal axis, or where ``place`` says."""
        above = {"y": 1, "yref": "paper", "yanchor": "bottom", "font": {"size": 12}, "showarrow": False}
        self.layout.setdefault("annotations", []).append({"text": text, "x": x, **above, **place})

    def upright(self, x, y, name, color, hover, *, digits=None, pattern=None, edge=NO_EDGE, **trace) -> None:
        """Draw upright bars of one colour, with numbers above them if ``digits`` says how a value is written."""
        if digits is not None:
            texts = [digits(value) if np.isfinite(value) else "" for value in y]
            trace |= {"text": texts, "textposition": "outside", "cliponaxis": False}
        marker = {"color": color, "line": edge, "pattern": {"shape": pattern}}
        self.add("bar", x=x, y=y, name=name, marker=marker, hovertemplate=f"{hover}<extra></extra>", **trace)

    def bars(self, values, mine, name, color, hover, hovers, **trace) -> None:
        """Draw those horizontal bars, the first on top, that have one colour."""
        own = np.flatnonzero(mine)
        said = {"customdata": [hovers[i] for i in own], "hovertemplate": f"%{{customdata}}<br>{hover}<extra></extra>"}
        self.add(
            "bar", x=values[own], y=len(values) - 1 - own, orientation="h", name=name,
            width=0.75,  # otherwise the bars of a trace with gaps would be wider
            marker={"color": color, "line": NO_EDGE}, **said | trace,
        )  # fmt: skip

    def grouped_bars(self, names, values, groups, hover, hovers, axis, *, legend=True, **look) -> None:
        """Draw horizontal bars with their names, in groups: what the legend says, a mask of the bars, and a colour."""
        values = np.asarray(values, dtype=np.float64)
        for name, mine, color in groups:
            if np.any(mine):
                self.bars(values, mine, name, color, hover, hovers, **look)
        self.bar_axes(names, axis, showlegend=legend)

    def bar_axes(self, names, axis, **layout) -> None:
        """Set the height of a figure of horizontal bars, and write a name beside each bar."""
        layout |= {"height": max(LINE * len(names) + AROUND, 220), "barmode": "overlay"}
        self.axes(axis, {**name_axis(names), "ticks": ""}, **layout)

    def pairs(self, frame, y, columns, names, hover, **trace) -> None:
        """Draw two numbers of each line of a frame as points that are joined, with the names that the legend has."""
        gap = np.full(len(frame), np.nan)
        x = np.column_stack([*(frame[column] for column in columns), gap]).ravel()
        self.stroke(x, np.column_stack([y, y, gap]).ravel(), ink.MARK, 2, **trace | {"showlegend": False})
        about = [short(text, 80) for text in frame["name"]]
        for column, name, color, symbol in zip(columns, names, (ink.BLUE, ink.VERMILION), ("circle-open", "circle")):
            marker = {"symbol": symbol, "size": 10, "color": color, "line": {"color": color, "width": 2}}
            said = f"<b>%{{customdata}}</b><br>{name} {hover}"
            self.points(frame[column], y, name, marker, said, customdata=about, legendgroup=column, **trace)

    def box(self, values, place, color, name, texts, hover, marker, **box) -> None:
        """Draw a box at a place of a vertical axis, with its points."""
        self.add(
            "box", x=values, y=np.full(len(values), place), orientation="h", name=name, width=0.5, pointpos=0,
            line={"color": color, "width": 1.5}, fillcolor=shade(color), marker={"color": color, **marker},
            customdata=texts, hovertemplate=f"{hover}<extra></extra>", hoveron="points",
            **{"boxpoints": "all", "jitter": 0.5} | box,
        )  # fmt: skip

    def heat_map(self, values, lines, columns, hovers, title, ticks, ends, *, scale=ink.AREAS, **trace) -> Figure:
        """Return the figure with a heat map, names beside it, and above it a bar of its colours."""
        n_lines, n_columns = values.shape
        # Names are categories of the axis: if there is no space for all of them, Plotly writes every second or third.
        self.add(
            "heatmap", x=_categories(columns), y=_categories(lines), z=values, coloraxis="coloraxis", hoverongaps=False,
            customdata=np.array(hovers, dtype=object).reshape(n_lines, n_columns),
            hovertemplate="%{customdata}<extra></extra>",
            xgap=0.6 if n_columns <= 80 else 0, ygap=0.6 if n_lines <= 80 else 0, **trace,
        )  # fmt: skip
        bar = COLOR_BAR | {"y": 1, "yanchor": "bottom", "ypad": 8, "nticks": 4} | ticks
        colors = {"colorscale": scale, "cmin": ends[0], "cmax": ends[1], "colorbar": bar}
        # The title is a note, because the dashboard's theme would put a title of the colour bar on top of the bar.
        self.note(title[:1].upper() + title[1:], 0, xref="paper", xanchor="left", yshift=42)
        axis = {"type": "category", "tickfont": {"size": 11}, "showgrid": False, "ticks": "", "showline": False}
        layout = {"height": max(CELL * n_lines + 250, 340), "margin": {"t": 112, "b": 16, "l": 16, "r": 16}}
        return self.checked({"tickangle": 90, **axis}, {"autorange": "reversed", **axis}, coloraxis=colors, **layout)

    def color_bar(self, title: str, scale: dict, bar: dict, *, shown: bool) -> None:
        """Set the colour scale of a figure and, if ``shown``, a bar below the figure with its title beside it."""
        bar = COLOR_BAR | {"y": 0, "yanchor": "top", "ypad": 16} | bar
        self.axes(coloraxis={**scale, "showscale": shown, "colorbar": bar})
        if shown:  # the title is a note for the same reason
            beside = {"xref": "paper", "xanchor": "left", "xshift": LENGTH + 8, "y": 0, "yanchor": "middle"}
            self.note(title, 0, **beside, yshift=-21)


def _set(into: dict, settings) -> None:
    """Enter settings, in which ``title_text`` is the text of the title, into those that are there."""
    for name, value in settings.items():
        of, _, part = name.partition("_")
        if part or isinstance(value, dict):
            inner = into[of] = into.get(of) or {}
            _set(inner, {part: value} if part else value)
        else:
            into[name] = value


@functools.lru_cache(maxsize=100)
def _panels(rows, columns, titles, **layout) -> dict:
    """Return the layout of panels, which takes Plotly ten milliseconds."""
    made = make_subplots(rows=rows, cols=columns, subplot_titles=titles or None, **layout).layout.to_plotly_json()
    return {name: value for name, value in made.items() if name != "template"}


def _categories(names) -> list[str]:
    """Return the names as shortened texts, with zero-width spaces at the end of equal texts, so that all differ."""
    times_used, categories = {}, []
    for name in names:
        text = short(name, LETTERS)
        times_used[text] = times_used.get(text, 0) + 1
        categories.append(text + "\u200b" * (times_used[text] - 1))
    return categories


def by_sign(values, positive: str, negative: str, none: str = "no influence") -> list[tuple]:
    """Return the groups of bars that say for a label, against it, or nothing."""
    values = np.asarray(values)
    return [(positive, values > 0, ink.FOR), (negative, values < 0, ink.AGAINST), (none, values == 0, ink.GREY)]


def hovers(frame, lines=None) -> np.ndarray:
    """Return what is said of each node: its name, a line if there is one, and what the frame says of it."""
    abouts = frame["about"] if "about" in frame.columns else [""] * len(frame)
    parts = ([f"<b>{short(name, 60)}</b>", line, about]
             for name, line, about in zip(frame["name"], lines or [""] * len(frame), abouts))  # fmt: skip
    return np.array(["<br>".join(filter(None, part)) for part in parts], dtype=object)
