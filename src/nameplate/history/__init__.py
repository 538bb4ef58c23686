"""Follow metrics over a folder of runs."""
