"""The columnar types that everything else works on."""
