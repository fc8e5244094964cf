"""Splits of rows into training and test rows, and files that list them."""
