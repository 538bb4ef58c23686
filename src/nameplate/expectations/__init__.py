"""Determine the expected values of a machine, and judge a run by them."""
