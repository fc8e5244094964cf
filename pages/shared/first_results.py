"""First results on the data set that comes with the program: on a first visit no page of it is empty.

Nobody asks for them. They are begun one after another while no other job waits or runs, but for the one that compiles
code ahead, and give way to others as :attr:`xmlcore.jobs.Job.gives_way` says. The workspace lists them like other
results. One that was stopped, or deleted, does not come back, and no further one is begun.
"""

import streamlit as st

from pages.shared import cached, fields, format, fragments, jobs, tasks
from pages.shared.operator import limits
from pages.shared.operator.user_workspaces import listed_keys
from pages.shared.process import job_queue
from pages.shared.results import results
from pages.shared.workspaces import dataset_list, workspace
from xmlcore import experiment, robustness
from xmlcore.robustness.perturbations import KINDS

NOTE = "A first result, begun while nothing else runs."
FEW = 1  # results that a user has at most when the first of these is begun
ROWS = 500  # test rows of the measurement under noise
CANDIDATES, ADVERSARIAL, EXAMPLES = (1, 2, 5, 10, 20, 50, 100), (1, 2, 5), (0.5, 1.0, 2.0, 5.0)
FALS = {"n_hidden": 128}  # a small network: the default one takes over a minute
COUNT = 12  # of these results
NEXT = "first.next"  # key of st.session_state: what begins once no other job waits or runs


def table(fingerprint: str) -> list[tuple]:
    """Return the tasks in their order, each with the values of the fields with which its page shows the result."""
    data = cached.dataset(fingerprint)
    plt, double, ldsm = (tasks.train_task(fingerprint, m, None, results.K) for m in ("PLT", "DoubleSampling", "LdSM"))
    noises = [_under_noise(data, run) for run in (plt, double, ldsm)]
    return [
        (plt, {}),  # Train, Predict, Explain, Trees
        (experiment.task("decide", {"run": plt.key}), {}),  # Train, Predict
        (tasks.explain_task(plt.key, data), {}),  # Explain
        (experiment.task("review", {"run": plt.key}), {}),  # Review
        noises[0],  # Robustness
        (double, {}),  # Compare, Sampling
        (tasks.select_task(fingerprint, "FALS", FALS), {}),  # Features
        _with_candidates(data, double),  # Sampling
        _sweep(data, double),
        noises[1],
        (ldsm, {}),  # Trees
        noises[2],
    ]


def _under_noise(data, run):
    levels = robustness.default_levels("gaussian", 2, cached.value_scale(data.fingerprint))
    n_rows, n_repeats = min(ROWS, data.n_test), KINDS["gaussian"].repeats
    params = {"kind": "gaussian", "levels": levels, "options": {"support": "all"}, "n_repeats": n_repeats}
    params["n_rows"] = None if n_rows == data.n_test else n_rows
    typed = {f"robustness.rows gaussian  {data.fingerprint[:8]} all": n_rows}
    return experiment.task("robustness", {"run": run.key}, params), typed


def _with_candidates(data, run):
    own = min(run.params["params"]["n_candidates"], data.n_labels)
    numbers = sorted({own, *(n for n in CANDIDATES if n <= data.n_labels)})
    task = experiment.task("sampling", {"run": run.key}, {"n_candidates": numbers})
    return task, {f"sampling.candidates {run.key[:8]}": fields.written(numbers)}


def _sweep(data, run):
    own, short = run.params["params"], run.key[:8]
    most = experiment.most_adversaries(own, data.n_labels)
    kappas = sorted({min(own["n_adversarial"], most), *(n for n in ADVERSARIAL if n <= most)})
    examples = sorted({float(own["examples_per_class"]), *EXAMPLES})
    task = experiment.task("sampling", {"run": run.key}, {"n_adversarial": kappas, "examples_per_class": examples})
    typed = {"kappa": fields.written(kappas), "examples": fields.written(examples), "repeats": 1}
    return task, {f"sampling.{field} {short}": value for field, value in typed.items()}


def go_on() -> None:
    """List the first results that are kept, and begin the next one if no job waits or runs."""
    st.session_state[NEXT] = None
    if workspace.read_only():
        return
    fingerprint = workspace.get("dataset")
    if not _are_wanted(fingerprint):
        _stop()
        return
    begun, listed = workspace.get("unasked"), _listed()
    if not _records() and _are_left(begun, listed):
        _go_on_with(table(fingerprint), begun, listed)


def comes(fingerprint: str, kind: str, **about) -> bool:
    """Show how far a first result is; return whether one of a kind, with these parameters, is to come."""
    begun, listed = workspace.get("unasked"), _listed()
    records = _records()
    in_line = listed | {record["key"] for record in records}
    if workspace.read_only() or not (_are_wanted(fingerprint) and _are_left(begun, in_line)):
        return False
    left = [task for task, _ in table(fingerprint) if task.key not in listed]
    alike = [task.kind == kind and about.items() <= (task.params | task.inputs).items() for task in left]
    if not any(alike):
        return False
    at = alike.index(True)
    running = jobs.active(key=left[at].key)
    if running:
        jobs.watch(running)
        return True
    seconds = [cached.estimated_seconds(task) for task in left[: at + 1]]
    others = f"after {format.count(at, 'other result')}" if at else "in a moment"
    when = others if None in seconds else f"{tasks.takes(sum(seconds))} from now"
    st.markdown(f":material/hourglass_top: {format.bold(left[at].title)} comes by itself, {when}.")
    st.progress(1 - len(left) / COUNT, f"{COUNT - len(left)} of {COUNT} first results are ready")
    return True


def _are_wanted(fingerprint) -> bool:
    """Return whether the server and the user want first results, and the data set in use is the one that has them."""
    is_wanted = limits.first_results() and workspace.get("widgets").get(tasks.AUTOMATIC) is not False
    return is_wanted and dataset_list.is_default(workspace.get("known").get(fingerprint))


def _are_left(begun, listed) -> bool:
    """Return whether results are to come: the user has stopped or deleted none, and has no models of their own."""
    has_own = not begun and len(workspace.get("runs")) > FEW
    return len(begun) < COUNT + bool(_records()) and begun.keys() <= listed and not has_own


def _listed() -> set[str]:
    return listed_keys({name: workspace.get(name) for name in ("runs", "selections", "made")})


def _go_on_with(every, begun, listed):
    if not begun:
        first_values = {name: value for _, fields in every for name, value in fields.items()}
        workspace.update(lambda data: data.update(widgets=first_values | data["widgets"]))
    for rank, (task, _) in enumerate(every):
        if task.key not in begun and not _list_or_begin(task, rank, task.key in listed):
            return


def _list_or_begin(task, rank, is_listed):
    """List a result if it is kept, or else begin it if no job waits or runs; return whether it is listed now."""
    is_kept = is_listed or task.exists()
    active = _active()
    if not is_kept and active and task.key not in active:  # one that another session has begun is joined
        st.session_state[NEXT] = task
        fragments.redraw_once(lambda: not _active())
        return False
    if not is_listed and cached.estimated(task) is not None:  # else what it reads is gone
        tasks.start(task, note=NOTE, asked=-float(rank))
    if is_kept:
        workspace.update(lambda data: data["unasked"].update({task.key: not is_listed}))
    return is_kept


def _stop():
    """Stop a first result; it begins again when its data set is in use again."""
    for record in _records():
        if (job := jobs.find(record)) is not None and job.active:
            job_queue.queue().cancel(record["id"], owner=workspace.token(), by_user=False)
            tasks.begin_later(record)


def _records() -> list[dict]:
    return [record for record in workspace.get("jobs") if jobs.is_unasked(record)]


def _active() -> set[str]:
    """Return the keys of the jobs that first results wait for: code is compiled beside them, in the same order."""
    return {job.key for job in job_queue.queue().jobs() if job.active} - {job_queue.WARM_UP}
