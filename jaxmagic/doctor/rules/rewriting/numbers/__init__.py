"""Tells what is known of the numbers and texts of Python in the code, and which of them 32 bits do not hold."""
