"""A drop-in replacement for trec_eval: its flags, its names, its output to the byte.

What it computes comes from the measures; here is only what belongs to that program: `settings` has its
options, `listings` its measures by name, `columns` how each is made, `report` its lines.
"""
