"""Everything that reads or writes files, and makes runs, judgements and features of what it reads."""
