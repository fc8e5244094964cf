"""Say what to install where Starlette is missing; imported before the files that use it."""

from xmlcore.extras import require

require("serve", "starlette")
