"""Replications of published studies: one folder per paper, with published and our numbers."""
