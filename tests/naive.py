"""Plain-Python twins of the kernels: slow, short, and plainly right."""
