"""Lines of LETOR files, for property tests."""

from __future__ import annotations

import re

from hypothesis import strategies as st

decimals = st.from_regex(
    re.compile(r"[+-]?([0-9]{1,28}\.?[0-9]{0,30}|\.[0-9]{1,30})([eE][+-]?[0-9])?"),
    fullmatch=True,
)
floats = st.floats(-3e38, 3e38)
numbers = st.one_of(floats.map(repr), floats.map("{:.17g}".format), decimals)
short = st.decimals(-(10**6), 10**6, places=6).map(str)

words = st.text(st.characters(min_codepoint=33, max_codepoint=255), min_size=1, max_size=4)
pairs = st.dictionaries(st.integers(1, 20), st.one_of(numbers, short), max_size=8)
blanks = st.sampled_from([" ", "\t", "  ", "\r", "\v\f"])


@st.composite
def letor_lines(draw: st.DrawFn) -> str:
    """A line in any layout; here and there a word that should not be there."""
    parts = [str(draw(st.integers(-3, 5))), f"qid:{draw(st.sampled_from('abc'))}"]
    parts += [f"{feature}:{value}" for feature, value in draw(pairs).items()]
    if draw(st.integers(0, 9)) == 0:
        parts.insert(draw(st.integers(0, len(parts))), draw(words))
    if draw(st.booleans()):
        parts += ["#docid", "=", draw(words), "inc", "=", "1"]
    return draw(blanks).join(parts) + draw(st.sampled_from(["\n", "\r\n", "\n\n"]))
