"""How any record is shown: blocks, and the media that they are written to."""
