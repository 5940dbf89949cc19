"""Holding systems against each other: is a difference real, how alike are two rankings."""
