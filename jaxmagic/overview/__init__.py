"""A session at a glance."""
