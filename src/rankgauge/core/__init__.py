"""What every part of the library uses, and that knows no other part."""
