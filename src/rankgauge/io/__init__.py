"""Everything that reads or writes files, and makes runs, judgments and features of what it reads."""
