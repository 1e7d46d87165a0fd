"""Measures how long a call takes."""
