"""``benchmark()``, and the comparison of a record with an earlier one."""
