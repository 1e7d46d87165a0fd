"""Comparisons and sweeps to play with."""
