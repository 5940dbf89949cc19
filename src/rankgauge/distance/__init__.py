"""Maximized effectiveness distance: the largest difference between the scores of two rankings."""
