"""Diagnoses and their findings, and the evidence that rules look at."""
