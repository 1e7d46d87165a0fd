"""Explain shapes that do not fit."""
