"""Which labels belong together: a heat map, a network, and tables of pairs."""

import streamlit as st

from pages.data import examined
from pages.shared import fields, format, server, tables
from pages.shared.figures import charts
from xmlcore import datasets, figures

CHOICES = {"frequent": "the most frequent labels", "pairs": "the labels of the strongest pairs"}
LEAST, MOST, FIRST = 5, 40, 20  # numbers of labels that can be drawn, and the first one
CIRCLE = 24  # most labels on the circle: the names of more would touch


def show(data, examination, fingerprint, name) -> None:
    """Show which labels occur together, and which do not; ``name`` begins the names of files."""
    st.header("Which labels belong together?")
    if examination is None:
        return
    if examination.summary["n_pairs"] == 0:
        st.caption("No row has two labels, so no labels occur together.")
        return
    st.markdown(_sentence(data, examination))
    which_box, number_box = st.columns([3, 2], vertical_alignment="bottom")
    which = fields.radio("Draw", CHOICES, "together.which", "frequent", place=which_box)
    number = fields.slider("Number of labels", LEAST, MOST, "together.number", FIRST, place=number_box)
    frame = pairs_drawn(fingerprint, which, number)
    left, right = st.columns(2, gap="medium")
    drawn = frame["first"].nunique()
    with left:
        charts.show_figure(
            heat(fingerprint, which, number),
            frame,
            f"{name}-cooccurrence",
            f"A cell says which share of the rows with the label on its left also have the label below it. Drawn are "
            f"{drawn:,} of {data.n_labels:,} labels: {CHOICES[which]}, with those that go together beside each other. "
            "Columns are in the order of the lines; where there is little space, only some of them have their names.",
            key="together.heat",
        )
    with right:
        few = frame if number <= CIRCLE else pairs_drawn(fingerprint, which, CIRCLE)
        network = circle(fingerprint, which, min(number, CIRCLE))
        meta = network.layout.meta
        charts.show_figure(
            network,
            few,
            f"{name}-network",
            f"A line joins labels that occur together more often than by chance; the wider, the stronger their "
            f"correlation (phi). Drawn are the {meta['shown']:,} strongest of {format.count(meta['total'], 'pair')} "
            f"among {few['first'].nunique():,} of {data.n_labels:,} labels. Larger points have more rows.",
            counted="pairs",
        )
    _tables(data, examination, name)


@server.shared()
def pairs_drawn(fingerprint, which, number):
    """Return the table of all pairs among some labels, with their names; ``which`` is a key of CHOICES."""
    data, Y = server.dataset(fingerprint), examined.all_labels(fingerprint)
    labels = server.description(fingerprint).labels
    counts = (labels["n_train"] + labels["n_test"]).to_numpy()
    if which == "pairs":
        pairs = examined.known(fingerprint).pairs
        chosen = list(dict.fromkeys(pairs[["first", "second"]].to_numpy().ravel().tolist()))[:number]
    else:
        chosen = [j for j in (-counts).argsort(kind="stable")[:number].tolist() if counts[j]]
    return _named(data, datasets.together(Y, chosen))


def _named(data, pairs):
    return pairs.assign(**{f"{side}_name": tables.label_names(data, pairs[side]) for side in ("first", "second")})


@server.shared()
def heat(fingerprint, which, number):
    """Return the heat map of the pairs that :func:`pairs_drawn` gives."""
    return figures.cooccurrence_heat(pairs_drawn(fingerprint, which, number))


@server.shared()
def circle(fingerprint, which, number):
    """Return the network of the pairs that :func:`pairs_drawn` gives."""
    return figures.label_network(pairs_drawn(fingerprint, which, number))


def _sentence(data, examination):
    number = examination.summary["n_pairs"]
    text = f"**{format.count(number, 'pair')} of labels** {'occurs' if number == 1 else 'occur'} on the same row."
    if examination.pairs.empty:
        return f"{text} None does so more often than by chance in at least two rows."
    pair = examination.pairs.iloc[0]
    first, second = (format.plain(data.label_name(int(pair[side]))) for side in ("first", "second"))
    return (
        f"{text} The strongest is **{first}** with **{second}**: {format.count(int(pair['n_both']), 'row')} "
        f"with both, where chance would give {pair['expected']:.2g}."
    )


def _tables(data, examination, name):
    left, right = st.columns(2, gap="medium")
    for box, title, key, frame, about in (
        (left, "Labels that occur together", "pairs", examination.pairs, "largest correlation first"),
        (right, "Labels that avoid each other", "exclusions", examination.exclusions, "most negative first"),
    ):
        with box:
            st.markdown(f"**{title}**")
            if frame.empty:
                st.caption("There are none.")
                continue
            named = _named(data, frame)
            tables.show(
                named,
                f"together.{key}",
                {
                    "first_name": tables.text("Label", 145),
                    "second_name": tables.text("And label", 145),
                    "phi": tables.number("Phi", 50, help="Correlation of the two labels, from −1 to 1."),
                    "n_both": tables.number("Both", 52, "localized", "Rows with both labels."),
                    "expected": tables.number("By chance", 68, "%.2f", "Rows with both if labels were independent."),
                },
                signs={"phi": "{:.2f}"},
                most=320,
            )
            of = examination.summary["n_pairs"] if key == "pairs" else data.n_labels * (data.n_labels - 1) // 2
            which = "on the same row" if key == "pairs" else "in all"
            st.caption(
                f"Showing {len(named):,} of {format.count(of, 'pair')} {which}, {about}. The CSV also has the lift and "
                "the rows of each label."
            )
            charts.csv_button("Pairs, CSV", named, f"{name}-{key}", f"These pairs, {about}", key=f"together.{key}.csv")
