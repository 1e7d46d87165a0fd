"""Show the progress of long measurements: a protocol, a bar and a line of text."""
