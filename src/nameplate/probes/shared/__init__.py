"""What several probes use: tables, derived values, ceilings, the nodes of a job."""
