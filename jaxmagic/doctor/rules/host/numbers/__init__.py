"""Finds numbers of Python that each call copies one by one."""
