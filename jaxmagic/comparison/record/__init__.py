"""Candidates side by side, sweeps, and their verdicts."""
