"""``compare()`` and ``sweep()``."""
