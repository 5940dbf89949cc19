"""Reading and writing, and the columnar types everything else works on."""
