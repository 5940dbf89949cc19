"""Feng's dissertation on texts, chapters 8, 9 and 11, done again on any rated summaries."""
