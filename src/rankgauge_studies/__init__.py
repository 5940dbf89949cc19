"""Published studies, repeated: a folder for each paper, with our numbers next to the published ones."""
