"""What a run measures: for now the choices that depend on the machine."""
