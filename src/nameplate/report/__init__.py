"""How results are shown: text, files for other programs, and the HTML report."""
