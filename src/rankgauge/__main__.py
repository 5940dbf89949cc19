"""`python -m rankgauge` is the command line."""

from rankgauge.cli import run

run()
