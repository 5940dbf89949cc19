"""Fusion of several runs: their union query by query, normalized scores, and methods to combine them."""
