"""Replication of Feng's dissertation on texts, chapters 8, 9 and 11, on any rated summaries."""
