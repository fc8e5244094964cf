"""Carrying a workspace to another machine or session: one file with all that it keeps."""


def show(own, fields) -> None:
    """Show buttons that write the workspace to a file, and read one."""
