"""The form for synthetic data sets on the Data page."""

import streamlit as st

from pages.data.forms import form
from pages.shared import fields, format
from xmlcore import experiment
from xmlcore.datasets import SYNTHETIC_SHAPES

MADE = experiment.KINDS["synthetic"]
SHARES = (1, 2, 5, 10, 20, 50, 100)  # percent of the rows and labels
FIRST, FIRST_SHARE = "eurlex-4k", 10


def _fields() -> form.Request:
    st.caption("Random rows of the sizes of a known data set, with labels as rare. Results are not those of that one.")
    left, right = st.columns(2)
    shape = fields.described(MADE.parameter("shape"), "made.shape", default=FIRST, place=left)
    noise = fields.percent(MADE.parameter("feature_noise"), "made.noise", fields.slider, place=left, step=5)
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
    about, known = MADE.parameter("label_exponent"), MADE.parameter("shape").named(shape).removeprefix("Like ")
    tail = fields.slider(
        about.label,
        about.minimum,
        about.maximum,
        f"made.tail.{shape}",
        own,
        place=right,
        step=about.step,
        help=f"{about.help} {known} has about {own:g}.",
    )
    with st.popover("More settings", icon=":material/tune:", width="content"):
        label_noise = fields.percent(MADE.parameter("label_noise"), "made.label_noise", step=5)
        seed = fields.described(MADE.parameter("random_state"), "made.seed")
    params = {"shape": shape} | experiment.scaled(shape, share / 100)
    params |= {"label_exponent": tail, "feature_noise": noise, "label_noise": label_noise, "random_state": seed}
    task = experiment.task("synthetic", {}, params)
    sizes = task.params
    rows = f"{sizes['n_train']:,} training and {sizes['n_test']:,} test rows"
    wide = f"{format.count(sizes['n_features'], 'feature')} and {format.count(sizes['n_labels'], 'label')}"
    st.markdown(f"This makes **{rows}**, {wide}.")
    return form.Request(task)


FORM = form.Form("made", "synthetic", "Make the data set", "The data set could not be made:", _fields)
