"""Say what to install where Starlette is missing; imported before the files that use it."""

from xmlcore.extras import OF_PARTS, require

require("serve", OF_PARTS["serve"])
