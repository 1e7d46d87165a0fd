"""Statistics of samples, whatever they are samples of: estimates with intervals, modes, outliers, trends."""
