"""Run external tools on the same work as nameplate, and read their output."""
