"""Decide what is said about a run, a comparison or a machine, in words and rows, however it is then displayed."""
