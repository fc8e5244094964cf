"""``python -m xmlcore``: the command line."""

from xmlcore.cli import main
from xmlcore.wording import COMMAND

if __name__ == "__main__":
    main(program=COMMAND)
