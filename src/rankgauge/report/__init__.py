"""Pages for the browser: tables, figures and texts in one HTML file.

They need Jinja2.
"""
