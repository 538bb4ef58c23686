"""Render results: text for a terminal, files for other programs, and the HTML report."""
