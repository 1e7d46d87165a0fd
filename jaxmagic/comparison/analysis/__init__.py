"""Puts comparisons beside earlier ones, and profiles beside each other."""
