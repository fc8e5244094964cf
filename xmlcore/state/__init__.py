"""Small things that change, such as workspaces and records of jobs: one SQLite file in the cache folder.

``database()`` gives the one of the present cache folder. Its tables are named in :data:`TABLES`; each has rows of a
key, a value that JSON can hold, and when it was written. What belongs together is changed in one transaction::

    with database().change():
        fields = database().get("workspaces", key, {})
        database().put("workspaces", key, fields | {"dataset": fingerprint})

Artifacts are not here: they are folders, see :mod:`xmlcore.store`.
"""

from xmlcore.state.sqlite import FILE, TABLES, Database, Row, StateError, database

__all__ = ["FILE", "TABLES", "Database", "Row", "StateError", "database"]
