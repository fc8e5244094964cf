"""``python -m xmlcore``: the command line."""

from xmlcore.cli import main

if __name__ == "__main__":
    main()
