"""How a run is driven: for now what keeps it within its budget."""
