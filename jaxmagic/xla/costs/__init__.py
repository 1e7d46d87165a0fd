"""Floating-point operations and bytes of each HLO instruction."""
