"""Parts of a probe's declaration: the contents of its records, and its lines on the first screen."""
