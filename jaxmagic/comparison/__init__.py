"""Compares candidates: which one is faster, and how their times grow with size."""
