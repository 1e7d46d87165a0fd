"""Shows records: reports are composed of blocks, and written as text or HTML."""
