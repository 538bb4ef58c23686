"""Compare two or more runs."""
