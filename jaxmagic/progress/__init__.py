"""The progress of long measurements: a record, a bar and a line of words."""
