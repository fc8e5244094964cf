"""Jobs that need what other jobs make: they wait for them, and fail and stop with them."""

import job_functions as work
from watching import LONG

from xmlcore.jobs import Plan


def after(queue, *parts, **options):
    return queue.submit(work.add, 1, 1, title="Whole", plan=Plan(after=parts), **options)


def test_a_job_starts_when_all_its_parts_are_done(line):
    parts = [line.submit(work.add, 1, number, title=f"Part {number}") for number in range(2)]
    whole = after(line, *parts)
    assert whole.words == "Waiting for 2 of 2 parts that are jobs of their own"
    assert whole.fraction == 0.0
    line.go()
    assert whole.result(LONG) == 2 and all(part.ended <= whole.started for part in parts)
    assert after(line, *parts).result(LONG) == 2  # they have ended before


def test_a_job_fails_with_a_part_and_stops_the_others(line):
    part, other = line.submit(work.fail, "no file", title="Part"), line.submit(work.add, 1, 1, title="Other", owner="m")
    line.pause("m")
    whole = after(line, part, other)
    line.go()
    assert whole.wait(LONG) and whole.state == "failed"
    assert whole.error == "part 1 of 2: ValueError: no file"
    assert other.wait(LONG) and other.state == "cancelled"


def test_a_job_fails_when_a_part_is_stopped(line):
    part = line.submit(work.add, 1, 1, title="Part")
    whole = after(line, part)
    line.cancel(part.id)
    assert whole.wait(LONG) and whole.error == "part 1 of 1: it was stopped"


def test_parts_stop_with_the_last_job_that_needs_them(line):
    part = line.submit(work.add, 1, 1, title="Part", owner="anna", key="part")
    one, other = after(line, part, owner="anna"), after(line, part, owner="anna")
    line.cancel(one.id, owner="anna")
    assert part.active and one.state == "cancelled"
    line.submit(work.add, 1, 1, title="Part", owner="ben", key="part")
    line.cancel(other.id, owner="anna")
    assert part.active and part.owners == ("ben",)
    line.cancel(part.id, owner="ben")
    assert part.state == "cancelled"
