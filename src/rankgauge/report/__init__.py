"""HTML pages: tables, figures and texts in one self-contained file.

Requires Jinja2.
"""
