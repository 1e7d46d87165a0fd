"""Measures candidates in shuffled rounds, and checks whether their outputs agree."""
