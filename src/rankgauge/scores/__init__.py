"""Scores: what every run got on every query by every measure."""
