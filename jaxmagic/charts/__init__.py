"""Descriptions of pictures: which values are on which axis, and no pixels."""
