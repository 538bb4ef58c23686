"""A folder of runs over time."""
