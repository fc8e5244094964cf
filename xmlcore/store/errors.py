"""What the store raises."""


class StoreError(KeyError):
    """An artifact cannot be read."""

    def __str__(self):
        """Return the message without quotation marks, which ``KeyError`` would add."""
        return str(self.args[0]) if self.args else ""


class MissingArtifactError(StoreError):
    """Nothing is stored under this key."""


class DamagedArtifactError(StoreError):
    """The artifact is damaged. It stays until it is made again."""


class DamagedUploadError(DamagedArtifactError):
    """The artifact is damaged and cannot be made again. It has not been removed or changed."""


class UnreadableArtifactError(StoreError):
    """The artifact is whole, but this version of the program cannot read it. It has not been removed."""


class ChangedBytesError(ValueError):
    """A file has other bytes than were written."""


class CannotKeepError(OSError):
    """A result cannot be written: the disk is full, or the folder cannot be written to."""
