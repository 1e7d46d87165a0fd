"""Samples a call until its median is known precisely enough."""
