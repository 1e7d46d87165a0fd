"""Starts the profiler, and reads what it writes."""
