"""What all kinds of tasks share: tasks, keeping results, estimates, giving tasks to workers, sweeps."""
