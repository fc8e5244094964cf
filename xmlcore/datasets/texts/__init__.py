"""Texts with labels: readers, and the vectoriser that turns texts into rows."""

from xmlcore.datasets.texts.guess import Guess, guess_columns
from xmlcore.datasets.texts.labels import read_vocabulary
from xmlcore.datasets.texts.reading import read_texts
from xmlcore.datasets.texts.vectorizer import TextVectorizer

__all__ = ["Guess", "TextVectorizer", "guess_columns", "read_texts", "read_vocabulary"]
