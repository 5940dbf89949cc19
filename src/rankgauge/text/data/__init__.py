"""Texts to evaluate, and the files that contain them."""
