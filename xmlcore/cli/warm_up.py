"""``xmlcore warm-up``."""

import click


@click.command("warm-up")
@click.option(
    "--jobs", type=click.IntRange(1), help="Processes that compile at the same time; by default one per core."
)
@click.pass_context
def command(ctx, jobs):
    """Compile all kernels ahead, and say where they are kept: for container images and servers.

    Without it, each kernel is compiled when it is first used. The status is 1 if the compiled code cannot be kept.
    """
    from xmlcore.warm_up import main

    ctx.exit(main([] if jobs is None else ["--jobs", str(jobs)]))
