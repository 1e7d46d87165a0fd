"""Descriptions of charts: which values are on which axis, independent of pixels."""
