"""The language of measures: text to measure. `str(measure)` is the way back.

docs/GRAMMAR.md has the grammar; the methods of the parser carry the names of its rules.
"""

from __future__ import annotations

import re
from typing import Any

from rankgauge.data.errors import MeasureError
from rankgauge.measures import registry
from rankgauge.measures.around import Aggregate
from rankgauge.measures.base import Measure
from rankgauge.measures.families import HOMES

TOKEN = re.compile(
    r"\s*(?:(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9]*)"
    r"|(?P<quoted>'[^']*'|\"[^\"]*\")"
    r"|(?P<symbol>[(){},=:@]))"
)
DEEPEST = 20
LONGEST = 2_000

OTHER_TOOLS = [
    (r"map", r"AP"),
    (r"gm_map", r"gm(AP)"),
    (r"map_cut[_.](\d+)", r"AP@\1"),
    (r"recip_rank", r"RR"),
    (r"ndcg", r"nDCG"),
    (r"Rndcg", r"ndcg_levels"),
    (r"alpha-(n?DCG.*)", r"alpha_\1"),
    (r"(n?)ERR-IA(.*)", r"\1ERR_IA\2"),
    (r"F1@(\d+)", r"F@\1"),
    (r"ndcg_cut[_.](\d+)", r"nDCG@\1"),
    (r"P[_.](\d+)", r"P@\1"),
    (r"recall[_.](\d+)", r"Recall@\1"),
    (r"success[_.](\d+)", r"Success@\1"),
    (r"set_P", r"SetP"),
    (r"set_recall", r"Recall"),
    (r"set_F", r"SetF"),
    (r"set_map", r"SetAP"),
    (r"set_relative_P", r"SetRelP"),
    (r"relative_P[_.](\d+)", r"RelP@\1"),
    (r"11pt_avg", r"ElevenPoint"),
    (r"iprec_at_recall[_.](\d*\.?\d+)", r"IPrec@\1"),
    (r"Rprec_mult[_.](\d*\.?\d+)", r"Rprec(times=\1)"),
    (r"gm_bpref", r"gm(bpref)"),
    (r"utility", r"Utility"),
    (r"utility[_.]([^,]+),([^,]+),([^,]+),([^,]+)", r"Utility(1,\1,\2,\3,\4)"),
]
"""trec_eval's names, and ours for them."""


def parse(text: str | Measure | Aggregate) -> Measure | Aggregate:
    """The measure that a text describes; a measure is returned as it is.

    MeasureError says what is wrong and shows the right form.

    >>> parse("nDCG(gain=exp2)@10")
    nDCG(gain='exp2') @ 10
    >>> parse("ndcg_cut_10")
    nDCG @ 10
    """
    if isinstance(text, Measure | Aggregate):
        return text
    if not isinstance(text, str) or not text.strip():
        raise MeasureError(f"{text!r} is not a measure; write, for example, nDCG@10")
    if len(text) > LONGEST:
        raise MeasureError(f"a measure of {len(text)} characters, expected at most {LONGEST}")
    if not _is_ours(text.strip()):
        for pattern, ours in OTHER_TOOLS:
            if found := re.fullmatch(pattern, text.strip()):
                text = found.expand(ours)
    return _Parser(text).whole()


def _is_ours(text: str) -> bool:
    """Whether a text begins with a name of ours, so that names of other tools need not be tried."""
    name = re.split(r"[(@]", text, maxsplit=1)[0]
    return name in HOMES


class _Parser:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.depth = 0
        self.tokens: list[tuple[str, str, int]] = []
        at = 0
        while text[at:].strip():
            found = TOKEN.match(text, at)
            if found is None or found.lastgroup is None:
                raise MeasureError(f"{text!r}: {text[at:].strip()[0]!r} is not understood here")
            kind = found.lastgroup
            self.tokens.append((kind, found.group(kind), found.start(kind)))
            at = found.end()
        self.tokens.append(("end", "the end", len(text)))
        self.next = 0

    def whole(self) -> Measure | Aggregate:
        result = self.measure()
        if self.peek("symbol", "(") and isinstance(result, Measure) and result.cutoff is not None:
            arguments = self.text[self.tokens[self.next][2] :].strip()
            bare = f"{result.name}{arguments}@{result.cutoff}"
            raise MeasureError(f"{self.text!r}: arguments go before the cut-off; write {bare}")
        self.expect("end")
        return result

    def measure(self) -> Measure | Aggregate:
        self.depth += 1
        if self.depth > DEEPEST:
            raise MeasureError(f"measures nested more than {DEEPEST} deep")
        name = self.expect("name")
        entry = registry.find(name)
        wraps = isinstance(entry, type)
        values, keywords = self.arguments(wraps) if self.peek("symbol", "(") else ([], {})
        result: Measure | Aggregate
        if isinstance(entry, type):
            if not values or not isinstance(values[0], Measure | Aggregate):
                raise MeasureError(f"{name} needs a measure inside; write, for example, {name}(AP)")
            if len(values) > 1:
                raise MeasureError(f"{self.text!r}: parameters of {name} are written key=value")
            result = entry(values[0], **entry._named((), keywords))  # type: ignore[arg-type]
        else:
            result = entry(*values, **keywords)
        if self.peek("symbol", "@"):
            self.next += 1
            cutoff = self.expect("number")
            result = result @ _number(cutoff)
        self.depth -= 1
        return result

    def arguments(self, wraps: bool) -> tuple[list[Any], dict[str, Any]]:
        values: list[Any] = []
        keywords: dict[str, Any] = {}
        self.expect("symbol", "(")
        while not self.peek("symbol", ")"):
            if values or keywords:
                self.expect("symbol", ",")
            if self.peek("name") and self.tokens[self.next + 1][1] == "=":
                key = self.expect("name")
                self.expect("symbol", "=")
                if key in keywords:
                    raise MeasureError(f"{self.text!r}: {key} is given twice")
                keywords[key] = self.value()
            elif keywords:
                raise MeasureError(f"{self.text!r}: values without a name come first")
            elif wraps and not values:
                values.append(self.measure())
            else:
                values.append(self.value())
        self.expect("symbol", ")")
        return values, keywords

    def value(self) -> Any:
        if self.peek("number"):
            return _number(self.expect("number"))
        if self.peek("quoted"):
            return self.expect("quoted")[1:-1]
        if self.peek("symbol", "{"):
            return self.map()
        if self.peek("name") and self.tokens[self.next + 1][1] in ("(", "@"):
            return self.measure()
        return self.expect("name")

    def map(self) -> dict[Any, Any]:
        pairs: dict[Any, Any] = {}
        self.expect("symbol", "{")
        while not self.peek("symbol", "}"):
            if pairs:
                self.expect("symbol", ",")
            label = _number(self.expect("number"))
            self.expect("symbol", ":")
            if label in pairs:
                raise MeasureError(f"{self.text!r}: {label} is given twice")
            pairs[label] = _number(self.expect("number"))
        self.expect("symbol", "}")
        return pairs

    def peek(self, kind: str, text: str | None = None) -> bool:
        found_kind, found, _ = self.tokens[self.next]
        return found_kind == kind and (text is None or found == text)

    def expect(self, kind: str, text: str | None = None) -> str:
        _, found, at = self.tokens[self.next]
        if not self.peek(kind, text):
            wanted = repr(text) if text else {"end": "nothing more"}.get(kind, f"a {kind}")
            raise MeasureError(f"{self.text!r}: {found!r} at character {at + 1}, expected {wanted}")
        self.next += 1
        return found


def _number(text: str) -> int | float:
    return int(text) if text.lstrip("+-").isdigit() else float(text)
