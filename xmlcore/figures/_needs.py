"""Say what to install where plotly is missing; imported before the files that use it."""

from xmlcore.extras import OF_PARTS, require

require("figures", OF_PARTS["figures"])
