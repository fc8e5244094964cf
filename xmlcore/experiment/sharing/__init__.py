"""What leaves the program: reports, LaTeX, code, and archives of models, results and workspaces."""
