"""The verbs, for people without magics: each one captures, analyses, and returns or keeps a record."""
