"""Gathers evidence by running code, and tries remedies."""
