"""What a run measures: for now its budget, and the choices that depend on the machine."""
