"""The few loops that must be fast, compiled from Cython; each has a plain-Python oracle in the tests."""
