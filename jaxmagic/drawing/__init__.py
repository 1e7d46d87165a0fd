"""Draws charts as SVG, on an HTML canvas, and as matplotlib figures."""
