"""Maximized effectiveness distance: how far apart a measure can put two rankings."""
