"""Tasks of all kinds: keeping results, estimates, giving tasks to workers, sweeps."""
