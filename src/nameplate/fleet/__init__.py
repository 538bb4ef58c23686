"""Read the runs of many machines as those of one fleet, and compare the machines."""
