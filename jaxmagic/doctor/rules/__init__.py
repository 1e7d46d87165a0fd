"""Rules: each looks at the evidence for one kind of problem, and says what it costs and what to do."""
