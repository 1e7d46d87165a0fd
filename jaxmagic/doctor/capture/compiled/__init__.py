"""Reads what the rules need to know about the programs that ran: jaxprs, instructions, products, placements."""
