"""A file for each kind of task; the import of a file registers its kind."""
