"""Published studies, repeated: a file for each paper, with our numbers next to the published ones."""
