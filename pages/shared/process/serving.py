"""Whether a server runs: tests run pages without one."""

import threading

serving = threading.Event()  # set while a server runs
