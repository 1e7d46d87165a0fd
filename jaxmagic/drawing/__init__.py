"""Charts as SVG, on a canvas, and as figures."""
