"""docs/TEXT.md has the numbers that its script prints on SummEval."""

from __future__ import annotations

import numpy as np
import pytest

import docs_scripts
from rankgauge import text
