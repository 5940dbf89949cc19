"""Runs laid over judgments: lists of labels in rank order, and what is made of ties."""
