"""The command line: ``xmlcore``, or ``python -m xmlcore``. A file for each command, and docs/command_line.md."""

import os
import sys

BAD_INPUT, INTERRUPTED = 2, 130  # exit statuses


def main(arguments: list[str] | None = None, program: str = "xmlcore") -> None:
    from xmlcore.extras import MissingExtraError, require

    try:
        _open_closed_streams()
        require("cli", "click")
    except MissingExtraError as error:
        sys.exit(f"xmlcore: {error}")
    import click

    from xmlcore.cli.group import one_line, xmlcore

    try:
        sys.exit(xmlcore.main(args=arguments, prog_name=program, standalone_mode=False) or 0)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(BAD_INPUT)
    except click.ClickException as error:
        usage = getattr(error, "ctx", None)
        hint = f" ({usage.command_path} --help)" if usage is not None else ""
        click.echo(f"xmlcore: {one_line(error.format_message())}{hint}", err=True)
        sys.exit(BAD_INPUT)
    except click.Abort:
        click.echo("xmlcore: interrupted", err=True)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # who reads the output has enough of it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _open_closed_streams() -> None:
    """Put the null device in the place of closed streams: the next file opened would take their number."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    sys.stdin, sys.stdout, sys.stderr = (
        sys.stdin or open(0), sys.stdout or open(1, "w"), sys.stderr or open(2, "w"))  # fmt: skip
