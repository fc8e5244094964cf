"""Writers of matrices to files."""
