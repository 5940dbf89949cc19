"""Figures of plain numbers; results call them. They need matplotlib, the extra `plot`."""
