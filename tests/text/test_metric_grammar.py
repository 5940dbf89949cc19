"""Metrics as texts: read, written, and refused with the right form."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rankgauge import text
from rankgauge.errors import MeasureError
from rankgauge.measures.grammar import parse
from rankgauge.scores.parsing import parse_scored
from rankgauge.text import Metric, Null, metric, parse_metric, register
from rankgauge.text.registry import METRICS, entries


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("rouge1", "rouge1"),
        ("ROUGE-1", "rouge1"),
        ("rouge_1", "rouge1"),
        ("rouge2(stem=true)", "rouge2(stem=true)"),
        ("rouge2( stem = True )", "rouge2(stem=true)"),
        ("rougeL(references=max)", "rougeL(references=max)"),
        ("rouge1(f)", "rouge1"),
        ("v2(rouge1)", "v2(rouge1)"),
        ("v2(rouge1,length=40)", "v2(rouge1,length=40)"),
        ("expected(rouge2,null=sentences)", "expected(rouge2,null=sentences)"),
        ("v1(rouge1(stem=true),draws=1,per=candidate)",) * 2,
    ],
)
def test_read_and_written(text: str, written: str) -> None:
    metric = parse_metric(text)
    assert str(metric) == written
    assert parse_metric(str(metric)) == metric
    assert parse_scored(text) == metric
    assert isinstance(metric, Metric)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("rogue1", "there is no metric 'rogue1'; did you mean rouge1"),
        ("nDCG@10", "there is no metric 'nDCG@10'; there are rouge1, rouge2"),
        ("", "is not a metric; write, for example, rouge1"),
        ("rouge1@5", "takes no cutoff"),
        ("v2()", "v2 needs a metric inside; write, for example, v2(rouge1)"),
        ("v2(rouge1,length=long)", "expected reference, candidate, or a number of words"),
        ("v2(rouge1,null=letters)", "expected one of words, sentences"),
        ("v2(rouge1,per=candidate)", "per=candidate needs draws, such as draws=1"),
        ("rouge1(stem=maybe)", "expected true or false"),
        ("rouge1(stems=true)", "rouge1 has no parameter 'stems'"),
        ("rouge1,rouge2", "has a comma between"),
        ("v2(" * 30 + "rouge1" + ")" * 30, "metrics nested more than 20 deep"),
        ("rouge1" * 1000, "characters, expected at most"),
    ],
)
def test_refused(text: str, fault: str) -> None:
    with pytest.raises(MeasureError) as raised:
        parse_metric(text)
    assert fault in str(raised.value)


def test_measures_of_rankings_and_metrics_of_texts_do_not_mix() -> None:
    with pytest.raises(MeasureError, match="no measure 'rouge1'; it scores texts, not rankings"):
        parse("v2(rouge1)")
    assert parse_scored("v2(nDCG@10)") == parse("v2(nDCG@10)")
    with pytest.raises(MeasureError, match="no measure 'rogue1'"):
        parse_scored("rogue1")


def test_names_are_taken_once() -> None:
    class Mine(Metric):
        name = "rouge1"

    with pytest.raises(
        MeasureError, match=r"the name rouge1 is taken by rankgauge\.text\.metrics\.rouge"
    ):
        register(Mine())


def test_a_name_with_an_underscore_is_found() -> None:
    own = metric(lambda words, references, source: 0.5, name="my_own", ideal=1.0)
    assert parse_metric("my_own") == parse_metric("MyOwn") == own


def test_the_old_name_of_the_list_of_metrics_still_works() -> None:
    with pytest.warns(DeprecationWarning, match=r"is now rankgauge\.text\.entries\(\)"):
        assert text.metrics() == text.entries()
    code = "import rankgauge.text; assert 'rouge1' in rankgauge.text.metrics()"
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)


def test_every_metric_says_what_it_is() -> None:
    every = entries()
    for name in METRICS.homes:
        entry = every[name]
        assert entry.name == name
        assert entry.summary.endswith(".")
        assert entry.formula
        assert entry.source
        for example in entry.examples:
            assert str(parse_metric(example)) == example


def test_null_is_a_value() -> None:
    assert Null(draws=1) == Null(draws=1)
    assert Null().constant
    assert not Null(length="candidate").constant
    assert not Null(draws=1, per="candidate").constant
