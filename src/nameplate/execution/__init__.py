"""Run a plan: sessions, the core process, launchers and batch jobs."""
