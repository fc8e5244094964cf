"""Results for others: reports, LaTeX, code, and archives of models and results."""
