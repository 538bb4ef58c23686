"""The run file: how its records are written so that none is lost."""
