"""Comparing systems: is a difference real, and how similar are two rankings?"""
