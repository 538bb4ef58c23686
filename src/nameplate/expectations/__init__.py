"""Say what a machine should deliver, and judge a run by it."""
