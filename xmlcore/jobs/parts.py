"""Jobs that need what other jobs make: when they start, when they fail, and what stops with them."""


class PartFailed(RuntimeError):
    """A job that another one needs has failed or was stopped."""


def of(jobs) -> set[str]:
    """Return the ids of the jobs that these jobs need."""
    return {part.id for job in jobs for part in job.plan.after}


def lacking(job) -> str | None:
    """Return which of the jobs that a job needs have not ended, in words."""
    parts = job.plan.after
    if any(not part.active and part.state != "done" for part in parts):
        return None
    left = sum(part.active for part in parts)
    return f"{left} of {len(parts)} parts that are jobs of their own" if left else ""


def failure(job) -> str:
    """Return why a job cannot be done: what became of the first job that it needs and that has no result."""
    # Without its title: that is another one for each owner, and all read the same error.
    number, part = next(one for one in enumerate(job.plan.after, 1) if not one[1].active and one[1].state != "done")
    return f"part {number} of {len(job.plan.after)}: {part.error or 'it was stopped'}"


def cancel(jobs, job, owner: str | None, group: str | None = None) -> None:
    others = {
        id(part)
        for other in list(jobs)
        if other is not job and other.active and not other.cancelling and other._is_wanted(owner, group)
        for part in other.plan.after
    }
    for part in job.plan.after:
        if id(part) not in others:
            part._queue.cancel(part.id, owner, group)
