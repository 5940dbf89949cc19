"""Texts to evaluate, and the files that they come from."""
