"""Turn the records of a run file into results."""
