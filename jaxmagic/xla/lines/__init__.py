"""The source line that each HLO instruction was made for."""
