"""The typed data that all other packages use, and the files that hold it."""
