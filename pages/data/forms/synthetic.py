"""The form for synthetic data sets on the Data page."""

import streamlit as st

from pages.data.forms import form
from pages.shared import fields, format
from xmlcore import experiment
from xmlcore.datasets import SYNTHETIC_SHAPES

SHAPES = {
    "small": "Small",
    "bibtex": "Like Bibtex",
    "mediamill": "Like Mediamill",
    "delicious": "Like Delicious",
    "eurlex-4k": "Like EUR-Lex 4K",
    "wiki10-31k": "Like Wiki10-31K",
    "amazoncat-13k": "Like AmazonCat-13K",
    "amazon-670k": "Like Amazon-670K",
}
SHARES = (1, 2, 5, 10, 20, 50, 100)  # percent of the rows and labels
FIRST, FIRST_SHARE = "eurlex-4k", 10


def _fields() -> form.Request:
    st.caption(
        "Rows are drawn at random. The sizes, and how rare the labels are, are those of a well-known data set; labels "
        "belong to topics, so that they can be learned. Results are not those of that data set."
    )
    left, right = st.columns(2)
    shape = fields.choice("Sizes", SHAPES, "made.shape", FIRST, place=left)
    noise = fields.slider(
        "Noise: words that say nothing about the labels, %",
        0,
        100,
        "made.noise",
        30,
        place=left,
        step=5,
        help="The share of a row's features that are drawn whatever its labels are. At 100\u00a0% only the "
        "frequencies of labels can be learned.",
    )
    share = fields.choice(
        "Size, % of its rows and labels",
        SHARES,
        "made.share",
        FIRST_SHARE,
        place=right,
        widget="select_slider",
        help="Rows and labels are multiplied by this. The number of features stays.",
    )
    own = float(SYNTHETIC_SHAPES[shape]["label_exponent"])
    tail = fields.slider(
        "Tail: how much rarer the rare labels are",
        0.0,
        2.0,
        f"made.tail.{shape}",
        own,
        place=right,
        step=0.05,
        help="The label at rank r is drawn with a probability proportional to r to the power of minus this number. "
        f"At 0 all labels are equally frequent; {SHAPES[shape].removeprefix('Like ')} has about {own:g}.",
    )
    label_noise, seed = _more()
    params = {"shape": shape} | experiment.scaled(shape, share / 100)
    params |= {
        "label_exponent": tail,
        "feature_noise": noise / 100,
        "label_noise": label_noise / 100,
        "random_state": seed,
    }
    task = experiment.task("synthetic", {}, params)
    sizes = task.params
    rows = f"{sizes['n_train']:,} training and {sizes['n_test']:,} test rows"
    wide = f"{format.count(sizes['n_features'], 'feature')} and {format.count(sizes['n_labels'], 'label')}"
    st.markdown(f"This makes **{rows}**, {wide}.")
    return form.Request(task)


def _more() -> tuple[float, int]:
    with st.popover("More settings", icon=":material/tune:", width="content"):
        replaced = "The share of labels that are replaced by any other label after the features are drawn."
        label_noise = fields.whole("Wrong labels, %", 0, 100, "made.label_noise", 10, step=5, help=replaced)
        same = "The same seed and settings make the same data."
        seed = fields.whole("Seed", 0, form.SEED_MOST, "made.seed", 0, help=same)
    return label_noise, seed


FORM = form.Form("made", "synthetic", "Make the data set", "The data set could not be made:", _fields)
