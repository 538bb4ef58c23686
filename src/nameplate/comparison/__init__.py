"""Two or more runs, and how they differ."""
