"""Opens the page sampling when it is the first one after a start of the server: see pages/shared/first_run.py."""

from pages.shared import first_run

first_run.run_app()
