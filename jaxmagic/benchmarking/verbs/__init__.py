"""``benchmark()``, and a record beside an earlier one."""
