"""The functions for scripts."""
