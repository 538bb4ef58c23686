"""Code that several probes use: tables, derived values, reference values, the nodes of a job."""
