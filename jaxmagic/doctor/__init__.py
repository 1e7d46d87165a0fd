"""Diagnoses: what costs time or memory in some code, what to do about it, and how that was found."""
