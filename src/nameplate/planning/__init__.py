"""Decide what a run measures: plan files, sweeps, budgets, and choices that depend on the machine."""
