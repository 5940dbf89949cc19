"""Scores: the score of every run on every query, by every measure."""
