"""Other people's programs: how each runs on the same work, and how its output is read."""
