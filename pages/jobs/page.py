"""The Jobs page: what runs, what waits for what, and what has ended?"""

import streamlit as st

from pages.jobs import ended, interrupted, live
from pages.shared import first_results, format, fragments, jobs, sweeping
from pages.shared.process import job_queue
from pages.shared.workspaces import workspace


def main() -> None:
    st.title("Jobs")
    queue = job_queue.queue()
    fragments.live(lambda place: place.markdown(_answer(jobs.own(), queue)))
    if problem := queue.problem:
        st.warning(format.plain(problem))
    if not workspace.get("jobs") and not sweeping.running() and not ended.listed():
        st.caption(
            "Trainings and other work that takes longer are listed here: how far they are, and for 30 days how they "
            "ended, with their logs."
        )
    interrupted.show()
    live.show()
    ended.show()


def _answer(own, queue):
    running = sum(job.state == "running" or job.starting for job in own if job.active)
    line = [job for job in own if job.active and job.state != "running" and not job.starting]
    paused = sum(map(queue.is_paused, line))
    waits = len(line) - paused + sweeping.not_begun(paused=False)
    paused += sweeping.not_begun(paused=True)
    parts = [format.count(running, "job runs", "jobs run")]
    parts += [format.count(waits, "waits", "wait")] if waits else []
    parts += [format.count(paused, "is paused", "are paused")] if paused else []
    text = format.listed(parts) if running or waits or paused else "No job runs or waits"
    compiling = " Code is being compiled, once for all." if job_queue.compiling() else ""
    where = "" if queue.where == "this machine" else f" Jobs run on {format.plain(queue.where)}."
    later = first_results.waiting()
    begins = f" {format.plain(later.title)} begins once no other job runs." if later is not None else ""
    return f"**{text}** in this workspace.{begins}{compiling}{where}{_others(queue)}"


def _others(queue):
    """Return how many jobs of other sessions are ahead of this workspace's: a number only."""
    none = {workspace.token(), job_queue.SERVER, job_queue.FIRST_VISIT}
    line = queue.waiting()
    others = [job for job in queue.jobs() if job.active and none.isdisjoint(job.owners)]
    last = max((at for at, job in enumerate(line) if workspace.token() in job.owners), default=None)
    if last is None:
        return f" Other sessions have {format.count(len(others), 'job')}." if others else ""
    ahead = sum(job in line[:last] for job in others)
    running = sum(job not in line for job in others)
    text = f" {format.count(ahead, 'job')} of other sessions {'is' if ahead == 1 else 'are'} ahead." if ahead else ""
    return text + (f" Other sessions run {format.count(running, 'job')}." if running else "")


main()
