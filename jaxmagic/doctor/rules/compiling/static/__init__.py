"""Tells which static arguments need not be static."""
