"""Say what to install where plotly is missing; imported before the files that use it."""

from xmlcore.extras import require

require("figures", "plotly")
