"""The language of measures: text to measure. `str(measure)` is the way back.

docs/GRAMMAR.md has the grammar; the methods of the parser carry the names of its rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeAlias

from rankgauge.core.parameters import Parametric
from rankgauge.core.registry import Registry
from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.measures.around import Aggregate
from rankgauge.measures.base import Measure
from rankgauge.measures.registry import MEASURES

TOKEN = re.compile(
    r"\s*(?:(?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![A-Za-z_0-9]))"
    r"|(?P<name>[0-9]*[A-Za-z_α][A-Za-z_0-9]*(?:[-.][A-Za-z_0-9]+)*)"
    r"|(?P<quoted>'[^']*'|\"[^\"]*\")"
    r"|(?P<symbol>[(){},=:@]))"
)
MOST_NESTING = 20
MOST_CHARACTERS = 2_000
MOST_CUTOFFS = 100
"""How many cutoffs one text may list."""


class IrMeasure(Protocol):
    """A measure of ir_measures, which is taken as it is: its name and its parameters."""

    @property
    def NAME(self) -> str | None: ...

    @property
    def AT_PARAM(self) -> str: ...

    @property
    def params(self) -> dict[str, Any]: ...


AnyMeasure: TypeAlias = str | Measure | Aggregate | IrMeasure
"""A measure, its text, or a measure of ir_measures."""


def parse(text: AnyMeasure) -> Measure | Aggregate:
    """Make the measure that a text describes.

    A measure is returned as it is, and a measure of ir_measures becomes the one of rankgauge. The
    names that other tools give to measures are understood, such as trec_eval's ndcg_cut_10, unless
    they are ambiguous. docs/GRAMMAR.md has the grammar.

    Parameters
    ----------
    text : str, Measure, Aggregate or measure of ir_measures
        The text of the measure, such as "nDCG(gain=exp2)@10", or a measure. A text describes one
        measure; `evaluate` also takes several cutoffs in one text, such as "nDCG@5,10".

    Returns
    -------
    Measure or Aggregate
        The measure. An aggregate, such as `gm(AP)`, is computed from the scores of a measure on all
        queries.

    Raises
    ------
    MeasureError
        If the text does not describe a measure, or if it is a name that other tools give to different
        measures. The message says what is wrong and shows the right form.

    Examples
    --------
    >>> parse("nDCG(gain=exp2)@10")
    nDCG(gain='exp2') @ 10
    >>> parse("ndcg_cut_10")
    nDCG @ 10
    """
    if isinstance(text, Measure | Aggregate):
        return text
    if is_ir_measure(text):
        text = _format_ir_measure(text)
    if not isinstance(text, str) or not text.strip():
        raise MeasureError(f"{text!r} is not a measure; write, for example, nDCG@10")
    if len(text) > MOST_CHARACTERS:
        raise MeasureError(
            f"a measure of {len(text)} characters, expected at most {MOST_CHARACTERS}"
        )
    if "," in text or "-" in text:
        from rankgauge.measures.names import translate_text

        text = translate_text(text.strip())
    found: Measure | Aggregate = Parser(text).whole()
    return found


def parse_all(measures: AnyMeasure | Iterable[AnyMeasure]) -> list[Measure | Aggregate]:
    """The measures that are given as one text or measure, or several; a text may list cutoffs.

    >>> parse_all(["AP", "nDCG@5,10"])
    [AP, nDCG @ 5, nDCG @ 10]
    """
    if isinstance(measures, str | Measure | Aggregate) or is_ir_measure(measures):
        measures = [measures]  # type: ignore[list-item]
    if not isinstance(measures, Iterable):
        return [parse(measures)]
    return [parse(one) for measure in measures for one in split_cutoffs(measure)]


def split_cutoffs(measure: AnyMeasure) -> list[AnyMeasure]:
    """The texts that a text with several cutoffs stands for, or what is given as it is.

    >>> split_cutoffs("v2(nDCG@5,10)")
    ['v2(nDCG@5)', 'v2(nDCG@10)']
    """
    if not isinstance(measure, str) or "," not in measure or len(measure) > MOST_CHARACTERS:
        return [measure]
    from rankgauge.measures import names

    found = re.search(SEVERAL_CUTOFFS, measure, re.ASCII)
    if found is None or re.fullmatch(names.UTILITY, measure.strip()):
        return [measure]
    numbers = re.split(r"\s*,\s*", found[2])
    if len(numbers) > MOST_CUTOFFS:
        raise MeasureError(
            f"{len(numbers)} cutoffs in one measure, expected at most {MOST_CUTOFFS}"
        )
    start, end = measure[: found.start(2)], measure[found.end() :]
    return [f"{start}{number}{end}" for number in numbers]


_NUMBER = r"(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)"
SEVERAL_CUTOFFS = (
    rf"(@\s*|^\s*[A-Za-z_]+[_.])({_NUMBER}(?:\s*,\s*{_NUMBER})+)"
    r"(?=\s*(?:$|\)|,\s*\w+\s*=))"
)
"""Several cutoffs: nDCG@5,10 or trec_eval's ndcg_cut.5,10; a parameter of a wrapper may follow."""


def is_ir_measure(value: object) -> bool:
    """Whether this is a measure of ir_measures, by where its class comes from."""
    return (
        not isinstance(value, type)
        and any(kind.__module__.partition(".")[0] == "ir_measures" for kind in type(value).__mro__)
        and isinstance(getattr(value, "params", None), dict)
        and isinstance(getattr(value, "NAME", None), str)
    )


def _format_ir_measure(measure: Any) -> str:
    """A measure of ir_measures in our language; MeasureError where it means another thing there."""
    name, parameters = str(measure.NAME), dict(measure.params)
    if name == "RBP" and "rel" not in parameters:
        raise MeasureError(
            "RBP of ir_measures without rel uses the grades as gains; for these gains write the text "
            "'RBP(gain=linear)', for relevant or not write RBP(rel=1)"
        )
    if name == "SetF" and parameters.get("beta", 1) != 1:
        raise MeasureError(
            f"SetF(beta={parameters['beta']}) of ir_measures weighs recall by beta, not by its square; "
            f"write SetF(beta={parameters['beta'] ** 0.5!r})"
        )
    at = parameters.pop(measure.AT_PARAM, None)
    inside = ",".join(f"{key}={_value_text(value)}" for key, value in parameters.items())
    return name + (f"({inside})" if inside else "") + ("" if at is None else f"@{at}")


def _value_text(value: Any) -> str:
    if isinstance(value, dict):  # labels without a gain have none here, and need not be named
        pairs = (f"{k}:{v}" for k, v in value.items() if (k, v) != (0, 0))
        return "{" + ",".join(pairs) + "}"
    return repr(value)


class Parser:
    """Recursive descent over the tokens of one text, for measures and for metrics of texts."""

    registry: Registry[Any] = MEASURES
    what = "measure"
    usual = "AP"
    """One that can stand inside another, for messages."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.depth = 0
        self.tokens: list[tuple[str, str, int]] = []
        at = 0
        while text[at:].strip():
            found = TOKEN.match(text, at)
            if found is None or found.lastgroup is None:
                wrong = text[at:].strip()[0]
                hint = "; write numbers with the digits 0 to 9" if wrong.isdigit() else ""
                raise MeasureError(f"{text!r}: {wrong!r} is not understood here{hint}")
            kind = found.lastgroup
            self.tokens.append((kind, found.group(kind), found.start(kind)))
            at = found.end()
        self.tokens.append(("end", "the end", len(text)))
        self.next = 0

    def whole(self) -> Any:
        result = self.measure()
        if self.peek("symbol", "(") and getattr(result, "cutoff", None) is not None:
            arguments = self.text[self.tokens[self.next][2] :].strip()
            bare = f"{result.name}{arguments}@{result.cutoff}"
            raise MeasureError(f"{self.text!r}: arguments go before the cutoff; write {bare}")
        if self.peek("symbol", ","):
            self.refuse_several()
        self.expect("end")
        return result

    def refuse_several(self) -> None:
        """MeasureError for what follows one measure: more cutoffs, or other measures."""
        listed: list[str] = []
        for piece in re.split(r",(?![^({]*[)}])", self.text):
            if listed and re.fullmatch(r"\s*[0-9.]+\s*", piece):
                listed[-1] += f",{piece.strip()}"
            else:
                listed.append(piece.strip())
        if len(listed) == 1:
            raise MeasureError(
                f"{self.text!r} is a measure at several cutoffs, expected one of them"
            )
        from shlex import quote

        repeated = " ".join(f"-m {quote(text)}" for text in listed)
        raise MeasureError(
            f"{self.text!r} has a comma between measures; on the command line repeat -m: {repeated}; in "
            f"Python give a list: {listed}"
        )

    def measure(self) -> Any:
        self.depth += 1
        if self.depth > MOST_NESTING:
            raise MeasureError(f"{self.what}s nested more than {MOST_NESTING} deep")
        name = self.expect("name")
        known = None if name in self.registry else self.elsewhere(name)
        wraps = known is None and isinstance(self.entry(name), type)
        values, keywords = self.arguments(wraps) if self.peek("symbol", "(") else ([], {})
        cutoff = self.cutoff()
        ours = known(cutoff) if known is not None else None
        result: Any
        if ours is not None:
            if cutoff and "@" in ours:
                raise MeasureError(f"{self.text!r}: {name} has a cutoff already; write {ours}")
            result = self.build_by_foreign_name(name, ours, values, keywords)
        elif wraps:
            result = self.around(name, values, keywords)
        else:
            result = self.build_registered(name, values, keywords)
        if cutoff:
            result = result @ _number(cutoff)
        self.depth -= 1
        return result

    def entry(self, name: str) -> Any:
        """What is registered under a name; the error for an unknown name has the cutoff after it."""
        try:
            return self.registry.find(name)
        except RankgaugeError:
            cutoff = self.cutoff()
            if not cutoff:
                raise
        return self.registry.find(f"{name}@{cutoff}")

    def elsewhere(self, name: str) -> Callable[[str], str | None] | None:
        """What a name of other tools means with a cutoff, or without one; None where none has it."""
        from rankgauge.measures import names

        known = names.find_name(name)
        if known is None:
            return None
        row, number = known
        return lambda cutoff: names.translate_name(name, row, number, cutoff)

    def build_registered(self, name: str, values: list[Any], keywords: dict[str, Any]) -> Any:
        """The measure of a name of ours, with these arguments, which may be those of ir_measures."""
        entry = self.registry.find(name)
        if keywords:
            from rankgauge.measures.names import translate_arguments

            name, keywords = translate_arguments(entry.name, keywords)
            entry = self.registry.find(name)
        return entry(*values, **keywords)

    def cutoff(self) -> str:
        """The cutoff that follows, as it is written; "" where there is none."""
        if not self.peek("symbol", "@"):
            return ""
        self.next += 1
        return self.expect("number")

    def around(self, name: str, values: list[Any], keywords: dict[str, Any]) -> Any:
        """A wrapper or an aggregate of a measure."""
        entry = self.registry.find(name)
        if not values or not isinstance(values[0], Parametric):
            example = f"{name}({self.usual})"
            raise MeasureError(f"{name} needs a {self.what} inside; write, for example, {example}")
        if len(values) > 1:
            raise MeasureError(f"{self.text!r}: parameters of {name} are written key=value")
        return entry(values[0], **entry._arguments_by_name((), keywords))

    def build_by_foreign_name(
        self, name: str, ours: str, values: list[Any], keywords: dict[str, Any]
    ) -> Measure | Aggregate:
        """The measure that our text for a name of other tools describes, with these arguments."""
        meant = parse(ours)
        if not values and not keywords:
            return meant
        if isinstance(meant, Aggregate):
            raise MeasureError(f"{name} takes no arguments here; write them inside {meant}")
        return meant(*values, **keywords)

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
