"""Records that were never measured: what each subject declares, with numbers that a test can know."""
