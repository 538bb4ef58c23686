"""nameplate: what a machine really delivers, beside what its nameplate promises."""

__version__ = "0.1.0"
