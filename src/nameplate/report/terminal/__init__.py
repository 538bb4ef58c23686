"""What is printed: tables and messages for a terminal or a log."""
