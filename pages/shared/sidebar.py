"""The sidebar of every page: the data set in use, and the jobs that run."""

import urllib.parse

import streamlit as st

from pages.shared import addresses, cached, fields, format, fragments, jobs, sections, sweeping, tasks, view
from pages.shared.operator import accounts, limits, user_workspaces
from pages.shared.process import job_queue
from pages.shared.workspaces import dataset_list, records, workspace
from pages.shared.workspaces.records import DEFAULT_DATASET
from xmlcore import store

MOST_WORKSPACES = 20  # of a user that are listed
LINKS = "sidebar.links"  # key of st.session_state: whether the addresses of this view are shown
LINK = "sidebar.link"  # likewise: which of them


def show(page):
    """Show the sidebar of a page, and return the place in it for :func:`show_jobs`."""
    with st.sidebar:
        if workspace.read_only():
            st.caption(":material/visibility: Read-only: nothing here can be started, changed or deleted.")
        fragments.alone(_links)(page)  # above, so that what it opens has room below it
        _dataset()
        place = st.container()
        _account()
        if not workspace.read_only():
            _automatic()
    return place


def _automatic():
    options, default = {False: "Nothing", True: "Short tasks"}, False
    if limits.first_results():
        default = "first"
        options = {False: "Nothing", default: f"First results on {DEFAULT_DATASET}", True: "These, and short tasks"}
    fields.choice(
        "Computed in the background",
        options,
        tasks.AUTOMATIC,
        default,
        help=f"So that no page is empty on a first visit, models are trained and measured on {DEFAULT_DATASET} with "
        "default settings while no other job waits or runs. A result that you stop or delete does not come back.  \n"
        "*Nothing*: nothing is computed until you ask for it.  \n*Short tasks*: a page starts them when you open it.",
    )


def _links(page):
    """Show the addresses of this view: one to work with and, in another tab, a read-only one."""
    # No popover: the click on another page that closes one reruns this one, and the browser stays blank.
    turn = {"on_click": st.session_state.update, "args": ({LINKS: not st.session_state.get(LINKS)},)}
    st.button("Copy a link", icon=":material/link:", type="tertiary", key="sidebar.links.turn", **turn)
    st.session_state.pop(sections.LINKED, None)
    if not st.session_state.get(LINKS):
        return
    section = st.session_state[sections.LINKED] = sections.opened(page.title)
    url = st.context.url.split("?")[0] if st.context.url else ""
    fields = {view.FIELD: view.now().text(), sections.FIELD: section}
    query = "".join(f"&{name}={urllib.parse.quote(value)}" for name, value in fields.items() if value)
    read_only = workspace.read_only()
    look = workspace.address if read_only else workspace.read_only_token  # made when it is asked for
    links = {"Read-only": (look, "Its visitors see everything and can change nothing.")}
    if not read_only:
        links = {"To work with": (workspace.address, "Its visitors can do all that you can.")} | links
    for tab, (token, about) in zip(st.tabs(list(links), key=LINK, on_change="rerun"), links.values()):
        if tab.open:
            with tab:
                st.caption(about)
                st.code(f"{url}?{workspace.QUERY}={token()}{query}", language=None)


def _account():
    who = accounts.user()
    if who is None:
        return
    with st.popover(format.plain(who.name), icon=":material/account_circle:", type="tertiary"):
        own = user_workspaces.tokens(who.id)
        st.markdown("**Your workspaces**, which open in a new tab. Nobody else can work in them.")
        st.markdown("\n".join(f"- {_workspace_link(token)}" for token in own[:MOST_WORKSPACES]))
        if len(own) > MOST_WORKSPACES:
            st.caption(f"The {MOST_WORKSPACES} of {len(own)} that were opened last.")
        st.button("Make a new workspace", key="make-workspace", on_click=workspace.begin)
        st.button("Sign out", key="sign-out", on_click=st.logout)


def _workspace_link(token):
    if token == workspace.token():
        return "this one"
    fields = records.read(token) or records.EMPTY
    names = [entry["name"] for entry in fields["known"].values()]
    text = format.plain(", ".join(names[:3]) + (" …" if names[3:] else "") or "empty")
    return f"[{text}](./?{workspace.QUERY}={token})"


def show_jobs(place) -> None:
    """Show the jobs that the page, which has been drawn, does not show itself."""
    with place:
        _jobs()
        sweeping.watch_all()


def _dataset():
    st.caption("Data set in use")
    fingerprint = workspace.get("dataset")
    data = None if fingerprint is None else _read(fingerprint)
    known = workspace.get("known")
    names = {key: entry["name"] for key, entry in known.items()}
    if not any(map(dataset_list.is_default, known.values())):
        names[DEFAULT_DATASET] = DEFAULT_DATASET
    about = {"label_visibility": "collapsed", "placeholder": "Choose a data set"}
    shown = workspace.get("dataset")  # another one, or none, if that cannot be read
    index = None if shown is None else 0
    fields.pick("Data set in use", names, "sidebar.dataset", shown, tasks.use, index=index, **about)
    if data is not None:
        st.caption(
            f"{data.n_train:,} training and {data.n_test:,} test rows, "
            f"{format.count(data.n_features, 'feature')}, {format.count(data.n_labels, 'label')}"
        )
    elif wanted := workspace.get("wanted"):
        st.caption(f"{format.plain(wanted)} is being prepared.")
    if not workspace.read_only() and st.button("Add data", key="sidebar.add", icon=":material/add:", type="tertiary"):
        st.session_state[addresses.ADDING] = True
        addresses.switch("Data")


def _read(fingerprint):
    """Return a data set; None, with a message, if it cannot be read."""
    try:
        return cached.dataset(fingerprint)
    except store.DamagedUploadError:
        _damaged(fingerprint)
    except KeyError as error:
        _gone(fingerprint, isinstance(error, store.DamagedArtifactError))
    return None


def _damaged(fingerprint):
    """Say that the data set in use is damaged on the disk and cannot be made again; it stays listed."""
    name = tasks.dataset_name(fingerprint) or "The data set"
    dataset_list.leave_dataset(fingerprint)
    st.warning(
        f"**{format.plain(name)} is damaged**: bytes of its file on this disk are not those that were written. The "
        "file is left as it is. Upload the same data again to repair it: its results stay."
    )


def _gone(fingerprint, damaged):
    """Say that the data set in use cannot be read; a data set of the catalog is made again."""
    entry = workspace.get("known").get(fingerprint, {})
    from_catalog = entry.get("source") == "catalog"
    wanted = dataset_list.catalog_name(entry) if from_catalog else DEFAULT_DATASET
    dataset_list.leave_dataset(fingerprint, wanted, forget=True)
    why = "was damaged" if damaged else "is gone (was the cache deleted?)"
    then = "It is being made again." if from_catalog else "Upload it again on the Data page."
    st.caption(f"The stored data set {why}. {then}")


def _jobs():
    watched = st.session_state[workspace.WATCHED]  # a page has one state of each job
    elsewhere = [job for job in jobs.active() if job.id not in watched]
    running = elsewhere or sweeping.elsewhere()
    if running or jobs.interrupted() or sweeping.interrupted():
        addresses.link("Jobs", "Running" if running else "Interrupted jobs")
    jobs.watch([*elsewhere, *filter(None, [job_queue.compiling()])], compact=True)
    warm_up = job_queue.warm_up()
    if warm_up is not None and warm_up.state == "failed":
        st.warning(
            "Compiling code ahead failed, so the first job of each kind takes longer. "
            f"Reason: {format.plain(warm_up.error or 'unknown')}"
        )
