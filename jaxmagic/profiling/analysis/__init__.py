"""From a recording to device time by line, operation and scope."""
