"""Runs code while its memory is measured."""
