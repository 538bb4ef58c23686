"""nameplate: measure what a machine and its cluster deliver, and compare it with what they should deliver."""

__version__ = "0.1.0"
