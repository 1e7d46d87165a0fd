"""Words shapes, axes and indices that do not fit."""
