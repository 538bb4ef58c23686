"""Start the measurement on each host of a fleet and collect its records: one module per engine."""
