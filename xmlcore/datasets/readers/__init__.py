"""Readers of files: a parser for each format, and what finds and opens the files."""
