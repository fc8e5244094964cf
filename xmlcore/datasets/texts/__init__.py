"""Texts with labels: readers, and the vectoriser that turns texts into rows."""

from xmlcore.datasets.texts.vectorizer import TextVectorizer

__all__ = ["TextVectorizer"]
