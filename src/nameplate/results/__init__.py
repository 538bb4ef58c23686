"""Turn the records of a run file into results, and compare them with published studies."""
