"""Print results: tables and messages for a terminal or a log."""
