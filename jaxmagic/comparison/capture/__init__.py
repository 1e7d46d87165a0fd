"""Measures candidates in shuffled rounds, and checks that their outputs agree."""
