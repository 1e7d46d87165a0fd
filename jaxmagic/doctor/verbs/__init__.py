"""Diagnoses calls, and explains errors."""
