"""Finds copies of arrays to the device that need not be made again."""
