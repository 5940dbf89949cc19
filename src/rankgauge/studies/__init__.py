"""What papers did, done again: one file a paper, with our numbers beside the published ones."""
