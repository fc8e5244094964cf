"""Statistics of data sets: labels, frequencies, pairs, duplicates, drift."""
