"""What the studies share: data, processes, the machine, tables."""
