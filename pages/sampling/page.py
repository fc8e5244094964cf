"""Sampling: what does double sampling learn from so few examples, and how does it pick a class?"""

import numpy as np
import pandas as pd
import streamlit as st

from pages.explain import explained
from pages.sampling import sampled, sampled_text
from pages.sampling.sampled import MODEL
from pages.sampling.sampled_text import percent
from pages.shared import (
    begin,
    charts,
    format,
    results,
    run_names,
    selectors,
    server,
    settings,
    tables,
    tasks,
    workspace,
)
from xmlcore import experiment, figures, store
from xmlcore.explain import candidates
from xmlcore.models.double_sampling import MEANINGS

K = 5
AUTOMATIC = 20.0  # seconds up to which something is measured without being asked
MOST_REPEATS = 20
OTHERS = 4  # other models' results beside this one
DRAWN = 12  # candidates of a row that are drawn
DRAWN_MISSED = 4  # true classes that are no candidates
LISTED = 100
LARGE = 1 << 30  # bytes from which memory is warned of


def main() -> None:
    st.title("Sampling")
    fingerprint = workspace.get("dataset")
    if fingerprint is None:
        begin.no_data("Double sampling can be trained on it in a moment.", "so there is nothing to sample.")
        return
    data = server.dataset(fingerprint)
    name = workspace.get("known").get(fingerprint, {}).get("name", data.name)
    past = results.kept("runs", fingerprint)
    runs = [r for r in past if r["model"] == MODEL]
    if not runs:
        said = (
            "This page shows what (π, κ)-double sampling draws from many classes (π: how often an example is taken; κ: "
            "other classes that it is then compared with), how candidates and samples decide what comes out, and why "
            f"a row gets its class. {begin.not_trained(name, f'No {MODEL} has')}"
        )
        link = "Other settings on the Train page"
        begin.no_run(said, data, fingerprint, name, "sampling", MODEL, K, link, model=MODEL)
        return
    key = results.chosen(workspace.SAMPLING_RUN, fingerprint, runs)
    both = results.opened(key)
    if both is None:
        if len(runs) > 1:
            _choose_run(fingerprint, runs, key)
        return
    run, model = both
    view = _View(data, name, run, model, key, next(r for r in runs if r["key"] == key))
    sentence, cards = st.empty(), st.container()
    if len(runs) > 1:
        _choose_run(fingerprint, runs, key)
    st.caption(_about_model(view, len(runs) == 1))
    for warning in dict.fromkeys(run.warnings):
        st.warning(format.plain(settings.in_form(run.model, warning)))
    begin.watch_training(fingerprint, model=MODEL)
    left, right = st.columns(2, gap="large")
    with left:
        _class_sizes(view)
    with right:
        own = _candidates(view)
    sentence.markdown(_sentence(view, own))
    with cards:
        _cards(view, own)
    _sweep(view)
    _buckets(view, own, past)
    _weights(view)
    st.fragment(_row)(view)


class _View:
    """The result that is looked at."""

    def __init__(self, data, name, run, model, key, record):
        self.data, self.name, self.run, self.model, self.key, self.record = data, name, run, model, key, record
        self.files = f"{format.file_name(name)}-{MODEL}-{key[:6]}"
        self.n_present = int(np.count_nonzero(model.class_size_))
        # What was asked for may be more than there is.
        self.most_kappa = experiment.most_adversaries(run.params, self.n_present)
        self.kappa = min(run.params["n_adversarial"], self.most_kappa)
        self.q = min(run.params["n_candidates"], self.n_present)
        self.examples = float(run.params["examples_per_class"])
        self.near = run.params.get("adversaries") == "candidates"
        self.balanced = bool(run.params.get("balanced", True))
        self.by_tree = run.params.get("candidates_from") == "plt"

    @property
    def n_examples(self) -> int:
        """Training examples, the data's own: a row with several classes is one of each."""
        return int(self.data.Y_train.nnz)

    @property
    def n_noisy(self) -> int:
        """Noisy copies of training examples that sampling drew from, too."""
        return int(self.model.class_size_.sum()) - self.n_examples

    @property
    def n_copies(self) -> int:
        return int(self.model.sampled_size_.sum())

    @property
    def base(self) -> tuple:
        """What is measured of every result, without training."""
        return (), (), sampled.first_candidates(self.run.times, self.q, self.n_present, AUTOMATIC), 1


# --- the run ---


def _choose_run(fingerprint, runs, key):
    said = f"All results of {MODEL} in this workspace on this data set, newest first."
    titles = {r["key"]: _about(r) for r in runs}
    results.choose(workspace.SAMPLING_RUN, fingerprint, titles, key, "Result shown", said)


def _about(record):
    said = settings.changed(MODEL, record["params"]) or "default settings"
    return f"{MODEL}, {said} ({format.when(record['created'])})"


def _about_model(view, named) -> str:
    title = f"{_about(view.record)}: " if named else ""
    risk = 100 * view.model.empirical_risk_
    said = (
        f"{title}the model takes {format.size(view.run.size['model_bytes'])}. It ranks classes by f, a weighted sum of "
        f"features of a row and a class; in {risk:.2g} % of the training pairs the own class does not have the larger "
        "f (the paper’s empirical risk)."
    )
    return said[:1].upper() + said[1:]


def _recall(own, q) -> float:
    """Share of own classes among q candidates, where it has been measured."""
    if own is None:
        return float("nan")
    at = own.candidates.loc[own.candidates["n_candidates"] == q, "recall"]
    return float(at.iloc[0]) if len(at) else float("nan")


def _against(view) -> str:
    """How many other classes a copy was compared with: examples may have had fewer than κ."""
    most = format.count(view.kappa, "other class", "other classes")
    if view.model.n_pairs_ == view.n_copies * view.kappa:
        return most
    return f"up to {most} (about {view.model.n_pairs_ / max(1, view.n_copies):.1f} on average)"


def _sentence(view, own) -> str:
    accuracy, macro = server.one_class(view.key)
    name, several = format.plain(view.name), not view.model.multiclass_
    if not np.isfinite(accuracy):
        said = f"No test row of **{name}** has a class, so no prediction can be right. "
    else:
        said = (
            f"On **{name}** double sampling finds the class of **{percent(accuracy)}** of the test "
            f"{'examples, a row with each of its classes' if several else 'rows'} (macro-F1 **{percent(macro)}**)"
        )
        recall = _recall(own, view.q)
        if np.isfinite(recall):
            said += (
                f"; the own class is among the {format.count(view.q, 'candidate')} of **{percent(recall)}**, and what "
                "is no candidate cannot be found"
            )
        said += ". "
    return (
        said
        + f"It learned from **{view.n_copies:,}** sampled copies of {format.count(view.n_examples, 'training example')}"
        + (f" and {format.count(view.n_noisy, 'noisy copy', 'noisy copies')} of these" if view.n_noisy > 0 else "")
        + f", each against {_against(view)}, in **{format.duration(view.run.times['fit_s'])}**."
    )


def _cards(view, own):
    accuracy, macro = server.one_class(view.key)
    model, times = view.model, view.run.times
    several = "" if model.multiclass_ else " Rows with several classes are an example for each, with one prediction."
    tables.cards(
        [
            ("Accuracy", percent(accuracy), f"Share of test examples whose class is predicted first.{several}"),
            (
                "Macro-F1",
                percent(macro),
                "Harmonic mean of precision and recall, each a mean over classes: the paper’s.",
            ),
            (
                f"Own class among {view.q:,}",
                percent(_recall(own, view.q)),
                "Share of test examples whose class is among the candidates: the most that accuracy can be.",
            ),
            (
                "Pairs",
                f"{model.n_pairs_:,}",
                f"Comparisons that f was learnt from: {format.count(view.n_copies, 'copy', 'copies')} of examples, "
                f"each against {_against(view)}. κ is {view.kappa:,}.",
            ),
            ("Training", format.duration(times["fit_s"]), "On this machine, in one worker process."),
            ("Prediction", f"{format.duration(times['predict_ms_per_row'] / 1000)}/row", "Mean over all test rows."),
        ]
    )


# --- what is measured ---


def _found(view, asked):
    """What was measured; None while it is not there."""
    key = experiment.sampling_key(view.key, *asked)
    if not store.exists("sampling", key):
        return None
    try:
        return server.sampling(key)
    except (store.StoreError, OSError):
        return None  # it was damaged, and has been removed: measured again


def _measured(view, asked, seconds, needed, remedy, what, button, widget):
    """What was measured; while it is not there, the job or the button that starts it.

    It is not started when ``needed`` bytes are too many; ``remedy`` says what to do then.
    """
    found = _found(view, asked)
    if found is not None:
        return found
    key = experiment.sampling_key(view.key, *asked)
    title = f"{what} of {MODEL} on {view.name}"
    running, failures = tasks.active("sampling", key=key), tasks.failed("sampling", key=key)
    free = sampled.too_large(needed)
    if free is not None and not running:
        st.error(
            f"This is not started: it needs about {format.size(needed)} of memory, {format.size(free)} are free, and "
            f"half of that is the most it may take. {remedy}"
        )
        tasks.show_failures(failures)
        return None
    tried = st.session_state.setdefault(workspace.SAMPLING_ASKED, set())
    start = (view.key, view.record["fingerprint"], asked, title)
    if not running and not failures and seconds <= AUTOMATIC and key not in tried:
        tried.add(key)
        tasks.measure_sampling(*start)
        running = tasks.active("sampling", key=key)
    if not running:
        st.button(
            f"{button} (about {format.seconds(seconds)})",
            key=f"sampling.measure.{widget}",
            on_click=tasks.measure_sampling,
            args=start,
            help="What is measured is kept, so it is measured once.",
        )
    tasks.watch(running)
    tasks.show_failures(failures)
    return None


def _values(label, widget, first, help, **bounds) -> tuple | None:
    """A field of values with commas between them; None when they cannot be read."""
    asked = st.text_input(
        label, **workspace.keep(widget, sampled.written(first), lambda v: isinstance(v, str)), help=help
    )
    values, problem = sampled.parse_values(asked, label.split(",")[0], **bounds)
    if problem:
        st.error(format.plain(problem))
        return None
    return tuple(values)


# --- class sizes ---


def _class_sizes(view):
    st.header("What is drawn")
    sizes = candidates.class_sizes(view.model, view.data)
    figure = figures.sampled_classes(sizes)
    meta = figure.layout.meta
    present = sizes[sizes["class_size"] > 0]
    largest, copies = int(present["class_size"].max()), int(present["sampled_size"].max())
    said = (
        f"Training rows of each class, from {int(present['class_size'].min()):,} to {largest:,}, and copies of its "
        f"examples that f was learnt from. {_drawn(view)} The largest number is {copies:,}. The line of copies is the "
        "mean over neighbouring ranks, the band their 5th to 95th percentile."
    )
    if meta["without_copies"]:
        said += f" Of {meta['without_copies']:,} of {meta['total']:,} classes there is none."
    if meta["without_rows"]:
        said += f" {format.count(meta['without_rows'], 'class', 'classes')} without training rows are not drawn here."
    if meta["shown"] < meta["total"]:
        said += f" Training rows of {meta['shown']:,} of {meta['total']:,} classes are points; the CSV has all."
    charts.show_figure(
        figure, lambda: tables.csv_safe(sizes), f"{view.files}-class-sizes", said, key="sampling.class_sizes"
    )


def _drawn(view) -> str:
    """How many copies are expected of a class, and which examples are left out."""
    if view.balanced:
        said = f"Sampling draws {view.examples:g} of each class on average"
    else:
        each = view.examples * view.n_present / max(1, view.n_examples + view.n_noisy)
        said = f"Sampling takes every example equally often, {each:.2g} times on average: copies go with class size"
    if view.n_noisy > 0:
        said += f", and draws from {format.count(view.n_noisy, 'noisy copy', 'noisy copies')} of examples as well"
    if view.near:
        return (
            f"{said}. Examples are left out that are alone in their class or whose class would be no candidate "
            "without them, so some classes give fewer or none."
        )
    if view.run.params.get("leave_one_out"):
        return f"{said}. Examples that are alone in their class are left out, so classes of one row give none."
    return f"{said}."


# --- candidates ---


def _candidates(view):
    """What other numbers of candidates bring; what was measured of the result as it is, when it is there."""
    st.header("Candidates")
    place = st.container()
    values = _values(
        f"Numbers of candidates, q, up to {view.n_present:,}",
        f"sampling.candidates {view.key[:8]}",
        view.base[2],
        "With commas between them; the result’s own is always measured. Nothing is trained for it.",
        whole=True,
        least=1,
        most=view.n_present,
    )
    own = _found(view, view.base)
    if values is None:
        return own
    asked = (*view.base[:2], sampled.with_own(values, view.q), 1)
    seconds = sampled.candidates_seconds(view.run.times, view.q, asked[2])
    most = max(asked[2])
    needed = experiment.candidate_bytes(view.data.n_test, most)
    remedy = f"Ask for fewer than {most:,} candidates, or free memory."
    if most == view.q:
        remedy = "Free memory, or train with fewer candidates, q: the result’s own are always measured."
    with place:
        found = _measured(
            view,
            asked,
            seconds,
            needed,
            remedy,
            "Other candidates",
            "Measure other numbers of candidates",
            "candidates",
        )
        if found is None:
            st.caption(
                "How often the own class is among the q candidates, for other q: predictions only, no training, and "
                f"about {format.size(needed)} of memory."
            )
            return own
        own = own or found
        table = found.candidates
        said = (
            f"{sampled_text.candidates_sentence(table, view.q)} The gap between candidate recall and accuracy is what "
            "f gets wrong. Times are of this machine, with whatever else it did."
        )
        charts.show_figure(
            figures.candidate_curves(table, view.q), table, f"{view.files}-candidates", said, key="sampling.candidates"
        )
    return own


# --- κ and examples per class ---


def _sweep(view):
    st.header("How much sampling is enough")
    times, own = view.run.times, (view.kappa, view.examples)
    first = sampled.first_sweep(times, own, view.most_kappa, AUTOMATIC)
    answer = st.container()
    short = view.key[:8]
    one, two, three = st.columns([2, 2, 1], vertical_alignment="top")
    with one:
        adversarial = _values(
            f"Adversarial classes, κ, up to {view.most_kappa:,}",
            f"sampling.kappa {short}",
            first[0],
            "Other classes that each copy of an example is compared with. With commas between them; the result’s own "
            "is always measured. The paper takes 5 to 122.",
            whole=True,
            least=1,
            most=view.most_kappa,
        )
    with two:
        examples = _values(
            "Examples per class, π",
            f"sampling.examples {short}",
            first[1],
            "Expected copies of examples that each class gives, with commas between them; the result’s own is always "
            "measured. The paper takes 1 or 2.",
            whole=False,
            least=0.01,
            most=1000,
        )
    with three:
        n_repeats = st.number_input(
            "Repeats",
            min_value=1,
            max_value=MOST_REPEATS,
            **workspace.keep(
                f"sampling.repeats {short}", first[2], lambda v: isinstance(v, int) and 1 <= v <= MOST_REPEATS
            ),
            help="Trainings per value, with seeds of their own. The bands are 95 % intervals over them; one has none.",
        )
    limit = _kappa_limit(view)
    if limit:
        st.caption(limit)
    if adversarial is None or examples is None:
        with answer:
            st.caption("The figures are here once the values can be read.")
        return
    asked = sampled.with_own(adversarial, view.kappa), sampled.with_own(examples, view.examples), (), int(n_repeats)
    seconds = sampled.sweep_seconds(times, own, *asked[:2], asked[3])
    trainings = asked[3] * (len(asked[0]) + len(asked[1]))
    needed = sampled.pair_bytes(view.n_copies * view.kappa, len(view.model.feature_names_), own, *asked[:2])
    st.caption(
        f"{format.count(trainings, 'training')}, one of the two varied at a time: about {format.seconds(seconds)}, "
        f"once, as it is kept. The largest needs about {format.size(needed)} for its pairs."
    )
    if needed > LARGE and sampled.too_large(needed) is None:
        st.warning(f"The largest of these trainings takes about {format.size(needed)} of memory for its pairs.")
    with answer:
        found = _measured(
            view,
            asked,
            seconds,
            needed,
            "Take smaller values of κ and of examples per class: memory grows with both. Or free memory.",
            "Other samples",
            f"Train {format.count(trainings, 'time')}",
            "sweep",
        )
        if found is None:
            st.caption("Accuracy, macro-F1, training time and memory with other κ and other examples per class.")
            return
        for said in sampled_text.failures(found):
            st.warning(said)
        sweep = found.sweep[found.sweep["failed"] == ""]
        if sweep.empty:
            return
        st.markdown(sampled_text.sweep_sentence(sweep))
        left, right = st.columns(2, gap="large")
        bands = " Bands are 95 % intervals over seeds." if found.n_repeats > 1 else " One training each: no intervals."
        for place, axis, value, said in (
            (left, "n_adversarial", view.kappa, f"Examples per class: {view.examples:g}."),
            (right, "examples_per_class", view.examples, f"κ = {view.kappa:,}."),
        ):
            with place:
                charts.show_figure(
                    figures.sampling_sweep(found.sweep, axis, value),
                    found.sweep[found.sweep["axis"] == axis],
                    f"{view.files}-{axis.replace('_', '-')}",
                    f"{said} Memory is that of the pairs and of the model.{bands}",
                    key=f"sampling.{axis}",
                )


def _kappa_limit(view) -> str | None:
    """Why κ ends where it does, when that is not plain."""
    asked, most = view.run.params["n_adversarial"], view.most_kappa
    if view.near:
        said = (
            f"Adversaries are other candidates of the example, so with q = {view.q:,} there are {most:,} at most: a "
            "larger κ is the same training."
        )
    elif asked > most:
        said = f"There are {format.count(most, 'other class', 'other classes')}: a larger κ is the same training."
    else:
        return None
    return said + (f" The result was asked for {asked:,}, which is {most:,} here." if asked > most else "")


# --- head, torso and tail ---


def _buckets(view, own, past):
    st.header("Head, torso and tail classes")
    if own is None:
        st.caption("This is measured together with the candidates, above.")
        return
    others = {}
    for r in past:
        if r["model"] != MODEL:
            others.setdefault(run_names.style_model(r), r)
    others = list(others.values())[:OTHERS]
    titles = run_names.names([view.record, *others])
    parts = [own.buckets.assign(run=titles[view.key], model=MODEL)]
    for r in others:
        try:
            parts.append(server.by_bucket(r["key"]).assign(run=titles[r["key"]], model=run_names.style_model(r)))
        except (store.StoreError, OSError):
            continue  # damaged, and removed: the Train page says so
    whole = pd.concat(parts, ignore_index=True)
    whole = whole[whole["n_rows"] > 0]
    if whole.empty:
        st.caption("No test row has a class.")
        return
    beside = " Beside it the newest result of each other model." if others else ""
    left, right = st.columns(2, gap="large")
    for place, measure, meaning in (
        (left, "accuracy", f"Share of the test examples of these classes whose class is predicted first.{beside}"),
        (
            right,
            "macro_f1",
            "Precision and recall are means over the classes, so a rare class counts as much as a large one.",
        ),
    ):
        with place:
            charts.show_figure(
                figures.bucket_bars(whole, measure),
                tables.csv_safe(whole.drop(columns="model")),
                f"{view.files}-buckets-{measure.replace('_', '-')}",
                meaning,
                key=f"sampling.buckets.{measure}",
            )
    shares = ["candidate_recall", "accuracy", "macro_f1"]
    shown = own.buckets[["bucket", "n_classes", "n_rows", *shares]].copy()
    shown[shares] *= 100
    share = {"format": "%.2f", "width": 100}
    st.dataframe(
        shown,
        hide_index=True,
        key="sampling.buckets",
        **tables.EMPTY_CELLS,
        column_config={
            "bucket": st.column_config.TextColumn("Bucket", width=70),
            "n_classes": st.column_config.NumberColumn("Classes", format="localized", width=80),
            "n_rows": st.column_config.NumberColumn("Test examples", format="localized", width=110),
            "candidate_recall": st.column_config.NumberColumn(
                f"Among {view.q:,}, %", help="Own class among the candidates.", **share
            ),
            "accuracy": st.column_config.NumberColumn("Accuracy, %", **share),
            "macro_f1": st.column_config.NumberColumn("Macro-F1, %", **share),
        },
    )
    st.caption(
        "Classes with a test row, by training rows: head classes are the most frequent, tail classes the rarest (the "
        "Data page has the rule)."
    )


# --- weights ---


def _weights(view):
    st.header("What f has learned")
    table = candidates.feature_weights(view.model)
    top = table.iloc[0]
    left, right = st.columns([2, 3], gap="large")
    with left:
        charts.show_figure(
            figures.feature_weights(table),
            tables.csv_safe(table),
            f"{view.files}-weights",
            f"f is the sum of weight × feature. Each bar is a weight times the size of the feature’s differences "
            f"between classes in training, so bars compare; the largest is **{format.plain(top['name'])}** "
            f"({explained.signed(top['value'])}).",
            key="sampling.weights",
        )
    with right:
        # A table of Markdown: sentences wrap in it.
        lines = ["| Feature | Meaning | Weight |", "|:--|:--|--:|"]
        for r in table.itertuples():
            weight = f"{r.weight:.3g}".replace("-", "−")
            lines.append(f"| **{format.plain(r.name)}** | {format.plain(r.meaning)} | {weight} |")
        st.markdown("\n".join(lines))
        st.caption(
            f"The {format.count(len(table), 'feature')} of a row and a class, the most influential first. Sums go over "
            "the terms that both have. Weights are for features as they are, of very different sizes; the CSV has the "
            "scales, too. Features go together, so single weights are no causes."
        )


# --- one row ---


def _row(view):
    st.header("Why a test row gets its class")
    data, model = view.data, view.model
    answer = st.empty()
    with st.columns([3, 2])[0]:
        row = selectors.choose_test_row(data, view.run, f"run {view.key}", workspace.SAMPLING_ROW)
    found = candidates.CandidateRanking(model, data, row)
    left, right = st.columns([2, 3], gap="large")
    with left:
        if found.true.size:
            names = [
                format.plain(data.label_name(int(j))) + (" (no candidate)" if j in found.missed else "")
                for j in found.true
            ]
            st.markdown(f"**True {'class' if len(names) == 1 else 'classes'}:** " + ", ".join(names))
        features = tables.features(data, data.X_test, row)
        if features.empty:
            st.caption("This row has no features, so nothing in it tells classes apart.")
        else:
            tables.show_features(features, "sampling.row.features", 360)
    answer.markdown(_row_sentence(view, found, row))
    with right:
        drawn = found.tidy(DRAWN, DRAWN_MISSED)
        some = f" Showing {min(DRAWN, found.q)} of {format.count(found.q, 'candidate')}." if found.q > DRAWN else ""
        stars = min(found.missed.size, DRAWN_MISSED)
        if stars:
            some += " * is a true class that is no candidate"
            some += f" ({stars} of {found.missed.size})." if stars < found.missed.size else "."
        charts.show_figure(
            figures.candidate_features(drawn),
            lambda: tables.csv_safe(found.tidy()),
            f"{view.files}-row{row}-contributions",
            "What each feature adds to f, weight × feature, against the mean of the candidates; a line adds up to the "
            f"last column, and the largest wins. Full colour is half of the largest contribution or "
            f"more. ✓ is a true class.{some}",
            key="sampling.contributions",
        )
    _candidate_table(view, found, row)


def _row_sentence(view, found, row) -> str:
    names = tables.part(view.data, "test")[2]
    which = f"test row {row:,}" + (f" ({format.plain(names[row])})" if names is not None else "")
    best = f"**{format.plain(found.names[0])}**"
    said = (
        f"Of {format.count(found.q, 'candidate')} for {which}, {best} has the largest f, {explained.number(found.f[0])}"
    )
    if found.q > 1:
        said += f", {explained.signed(found.f[0] - found.f[1])} before **{format.plain(found.names[1])}**"
    if found.true.size == 0:
        return f"{said}. The row has no true class."
    said += ": right." if found.right[0] else ": wrong."
    if found.missed.size == 0:
        if not found.right[0]:
            place = int(found.rank[found.right].min())
            said += f" The true class is a candidate, in place {place}."
        return said
    alone = found.true.size == 1
    missed = ", ".join(f"**{format.plain(view.data.label_name(int(j)))}**" for j in found.missed[:3])
    more = f" and {found.missed.size - 3} more" if found.missed.size > 3 else ""
    if alone:
        said += f" The own class, {missed}, is **not among the candidates**, so it cannot be found"
        said += "; its f would have won." if found.f[-1] > found.f[0] else "; its f would not have won either."
        return said
    of = f"{found.missed.size} of {found.true.size} true classes"
    return f"{said} **Not among the candidates**: {missed}{more}, {of}."


def _candidate_table(view, found, row):
    whole = found.wide()
    shown = whole.head(LISTED)
    right = np.where(shown["true"], "✓ true", "")
    table = shown.assign(true=np.where(shown["rank"].isna(), "✓ no candidate", right))
    st.dataframe(
        table[["rank", "name", "true", "f", "share", "nearness", *found.feature_names, "label"]],
        hide_index=True,
        height=tables.height(len(table), 480),
        key="sampling.row.candidates",
        **tables.EMPTY_CELLS,
        column_config={
            "rank": st.column_config.NumberColumn("Rank", format="%d", width=50, pinned=True),
            "name": st.column_config.TextColumn("Candidate", width=160, pinned=True),
            "true": st.column_config.TextColumn("True?", width=105),
            "f": st.column_config.NumberColumn("f", format="%.3f", width=70, help="Only differences of f count."),
            "share": st.column_config.NumberColumn(
                "Score", format="%.3f", width=65, help="exp f over the sum of the candidates’."
            ),
            "nearness": st.column_config.NumberColumn(
                "By tree" if view.by_tree else "Nearest",
                format="%d",
                width=70,
                help="Place among the candidates before f ranks them: by "
                + ("the label tree’s probability." if view.by_tree else "distance to the class’s centroid."),
            ),
            "label": st.column_config.NumberColumn("Id", format="%d", width=70),
            **{
                name: st.column_config.NumberColumn(name, format="%.4g", help=MEANINGS.get(name), width=80)
                for name in found.feature_names
            },
        },
    )
    count = format.count(len(whole), "line")
    of = f"Showing {len(shown):,} of {count}; the CSV has all." if len(shown) < len(whole) else ""
    st.caption(f"Candidates by f, with their features as they are, not weighted. {of}")
    charts.csv_button(
        "Candidates of the row, CSV",
        lambda: tables.csv_safe(whole),
        f"{view.files}-row{row}-candidates",
        "Every candidate, and true classes that are none, with f and all features",
    )


main()
