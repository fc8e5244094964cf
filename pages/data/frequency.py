"""How often labels occur, and how rare most of them are: figures of label frequencies, the power law, and imbalance."""

import math

import streamlit as st

from pages.data import examined
from pages.shared import format, server, tables, tasks
from pages.shared.figures import charts
from xmlcore import datasets, experiment, figures
from xmlcore.metrics.buckets import MEANING

UNLIKELY = 0.01  # with a larger p, a difference may still be chance
FEW = 50  # labels; with fewer, distributions can hardly be told apart (Clauset et al. 2009)


def show(data, described, examination, fingerprint, name) -> None:
    st.header("How often does a label occur?")
    if data.Y_train.nnz:
        _balance_cards(described.summary)
    if described.labels["irlbl"].notna().any():
        figure = drawn_ratios(fingerprint)
        text = _about_ratios(described.labels["irlbl"], figure.layout.meta)
        frame = described.labels[["label", "name", "irlbl"]]
        charts.show_figure(figure, frame, f"{name}-imbalance", text)
    if examination is not None and math.isfinite(examination.power_law.alpha):
        _power_law(examination, fingerprint)


def curve(data, described, examination, fingerprint, name) -> None:
    """Draw how many training rows each label has, from the most frequent one to the rarest."""
    if not data.Y_train.nnz:
        st.caption("No training row has a label, so there is nothing to draw.")
        return
    fit = examination.power_law if examination is not None else None
    figure = drawn(fingerprint, fit is not None)
    text = _about_frequency(figure.layout.meta) + _about_fit(fit)
    charts.show_figure(figure, described.labels, f"{name}-label-frequency", text)


@server.shared()
def drawn(fingerprint, fitted):
    """Return the figure of the frequencies of labels, with the fitted power law if ``fitted``."""
    labels = server.description(fingerprint).labels
    fit = examined.known(fingerprint).power_law if fitted else None
    curve = None if fit is None else datasets.power_law_curve(fit, int(labels["n_train"].max()))
    return figures.label_frequency(labels, curve)


@server.shared()
def drawn_ratios(fingerprint):
    """Return the figure of the imbalance ratios of labels."""
    return figures.imbalance_ratios(server.description(fingerprint).labels)


def _balance_cards(summary):
    tables.cards(
        [
            (
                "Head labels",
                f"{summary['n_labels_head']:,}",
                MEANING,
            ),
            (
                "Mean imbalance (IRLbl)",
                f"{summary['irlbl_mean']:,.1f}",
                "How many times rarer a label is than the most frequent one: 10 means a tenth of its rows. The mean "
                "over labels, in training and test rows together; for the rarest label it is "
                f"{summary['irlbl_max']:,.0f}. IRLbl of Charte et al. 2015.",
            ),
            (
                "Rare with frequent (SCUMBLE)",
                f"{summary['scumble']:.3f}",
                "Whether rare labels stand on the same rows as frequent ones, from 0 (never) to 1. Where they do, "
                "repeating rows with rare labels repeats frequent ones, too, and balances nothing. Mean over rows. "
                "Charte et al. 2019.",
            ),
            (
                "Missing labels (a guess)",
                f"about {100 * summary['share_missing_estimate']:.0f}\u00a0%",
                "People who label rows forget some labels, rare ones most. This is the share of the true labels that "
                "are likely to be missing from training rows: about "
                f"{round(summary['n_missing_estimate']):,}, a label counted for each row that lacks it. By the "
                "propensity model of Jain et al. 2016, fitted to Wikipedia and Amazon: for other data a rough guess.",
            ),
        ]
    )


def _about_fit(fit):
    """Return the part of a caption that says what the dashed line is; empty without a fit."""
    if fit is None or not math.isfinite(fit.alpha):
        return ""
    return (
        f" The dashed line is the closest power law (exponent {fit.alpha:.2f} ± {fit.alpha_error:.2f}) to the "
        f"{fit.n_tail:,} of {fit.n:,} labels with at least {fit.x_min:,} training rows; *Frequency* says whether other "
        "distributions fit as well."
    )


def _power_law(examination, fingerprint):
    """Say whether a power law fits, compared with other distributions, and offer to test it."""
    st.subheader("Is it a power law?")
    fit = examination.power_law
    comparisons = [_compared(row) for row in examination.alternatives.itertuples()]
    st.markdown(
        f"For the {fit.n_tail:,} labels with at least {fit.x_min:,} training rows, {' and '.join(comparisons)}.",
        help="Vuong's test of the two likelihoods, as in Clauset et al. 2009. A small p means that the difference is "
        "not chance; with a p of 0.1 or more, the two are said to fit about as well.",
    )
    if fit.n_tail < FEW:
        st.caption(f"With fewer than {FEW} labels, such comparisons say little: most distributions fit so few.")
    task = experiment.task("power_law", {"dataset": fingerprint}, {"n_samples": 1000})
    button = "Test whether a power law fits at all"
    tasks.shown(task, lambda result: _tested(result.goodness), automatic_below=0, button=button)


def _about_ratios(ratios, meta):
    """Return the caption of the figure of imbalance ratios; ``meta`` is the figure's description."""
    text = (
        "IRLbl is the number of rows of the most frequent label, divided by those of a label, in training and test "
        "rows. Each bar counts the labels whose IRLbl lies between the two ends of the bar. Half of the labels have at "
        f"most {ratios.median():,.1f}."
    )
    without = meta["without_rows"]
    return text + (f" {format.count(without, 'label')} without a row cannot be drawn." if without else "")


def _compared(row):
    chance = "p below 0.001" if row.p < 0.001 else f"p = {row.p:.2g}"
    how = "about as well as" if row.p >= 0.1 else "worse than" if row.ratio > 0 else "better than"
    how = how if row.p >= 0.1 or row.p < UNLIKELY else f"somewhat {how}"
    article = "an" if row.distribution.startswith("e") else "a"
    return f"{article} **{row.distribution}** distribution fits {how} the power law ({chance})"


def _tested(goodness):
    if math.isnan(goodness["p"]):
        st.markdown(
            "**This cannot be tested**: these labels have only two different numbers of training rows, and so few "
            "values can decide nothing."
        )
        return
    verdict = (
        "**A power law is ruled out**: it would give such a bad fit less than once in ten data sets."
        if goodness["p"] < 0.1
        else "**A power law is plausible**: data that follow one often fit no better."
    )
    st.markdown(
        f"{verdict} p = {goodness['p']:.3f} ± {goodness['p_error']:.3f}, from {goodness['n_samples']:,} samples. In "
        f"90\u00a0% of these, the exponent is between {goodness['alpha_low']:.2f} and {goodness['alpha_high']:.2f}, "
        f"and the power law begins at {goodness['x_min_low']:.0f} to {goodness['x_min_high']:.0f} rows.",
        help="Each sample has as many labels as the data, drawn from the fitted power law above where it begins, and "
        "from the data below. A power law is fitted to it in the same way. p is the share of samples that are farther "
        "from their fit than the data are from theirs. Clauset et al. 2009.",
    )


def _about_frequency(meta):
    """Return the caption of the figure of label frequencies; ``meta`` is the figure's description."""
    text = f"Each point is a label, most frequent first. {MEANING}"
    if meta["flat"]:
        if meta["least"] == meta["most"]:
            text += f" Each has {format.count(meta['most'], 'training row')}."
        else:
            text += f" The counts differ little: {meta['least']:,} to {meta['most']:,} training rows."
    without = meta["without_rows"]
    text += f" {format.count(without, 'label')} without a training row cannot be drawn." if without else ""
    if meta["shown"] < meta["total"]:
        text += (
            f" {meta['shown']:,} of {meta['total']:,} labels are points of the curve, which passes through all of them."
        )
    return text
