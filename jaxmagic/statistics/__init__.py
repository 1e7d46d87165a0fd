"""Statistics of samples: estimates with intervals, modes, outliers, trends."""
