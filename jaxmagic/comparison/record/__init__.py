"""Declares comparisons and sweeps, and judges them."""
