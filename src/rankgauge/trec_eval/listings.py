"""The measures that trec_eval knows: names, default parameters, nicknames, and its order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from rankgauge.core.records import Value
from rankgauge.errors import MeasureError
from rankgauge.trec_eval.columns import (
    ColumnMaker,
    ReportColumn,
    Request,
    count_column,
    cutoff_columns,
    gain_column,
    gain_levels,
    geometric_mean_column,
    graded_scores,
    mean_over_levels,
    measure_column,
    multiples_of_r,
    number_of_queries,
    number_relevant,
    rank_biased,
    recall_levels,
    relevance_string,
    run_id,
    set_f,
    unjudged_share,
    utility,
)
from rankgauge.trec_eval.settings import (
    ParameterError,
    Settings,
    UsageError,
    parse_integer,
    parse_number,
)

CUTOFFS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
RECALL_LEVELS = tuple(f"{i / 10}" for i in range(11))
MULTIPLES = tuple(f"{i / 5}" for i in range(1, 11))


class ListedMeasure(Value):
    """One of trec_eval's measures. `takes` tells what its parameters are, if it has any.

    Each cutoff or level makes a column of its own; values make one, named after them as given.
    """

    name: str
    make: ColumnMaker
    defaults: tuple[str, ...] = ()
    takes: Literal["cutoffs", "levels", "values", "nothing"] = "nothing"
    since: int = 9


LISTINGS = (
    ListedMeasure("runid", run_id),
    ListedMeasure("num_q", number_of_queries),
    ListedMeasure("num_ret", count_column("NumRet")),
    ListedMeasure("num_rel", number_relevant),
    ListedMeasure("num_rel_ret", count_column("NumRelRet")),
    ListedMeasure("map", measure_column("AP")),
    ListedMeasure("gm_map", geometric_mean_column("AP")),
    ListedMeasure("Rprec", measure_column("Rprec")),
    ListedMeasure("bpref", measure_column("bpref")),
    ListedMeasure("recip_rank", measure_column("RR")),
    ListedMeasure("iprec_at_recall", recall_levels, RECALL_LEVELS, "levels"),
    ListedMeasure("P", cutoff_columns("P@{}"), CUTOFFS, "cutoffs"),
    ListedMeasure("relstring", relevance_string, ("10",), "values"),
    ListedMeasure("recall", cutoff_columns("Recall@{}"), CUTOFFS, "cutoffs"),
    ListedMeasure("infAP", measure_column("infAP")),
    ListedMeasure("gm_bpref", geometric_mean_column("bpref")),
    ListedMeasure("Rprec_mult", multiples_of_r, MULTIPLES, "levels"),
    ListedMeasure("utility", utility, ("1", "-1", "0", "0"), "values"),
    ListedMeasure("11pt_avg", mean_over_levels, RECALL_LEVELS, "values"),
    ListedMeasure("binG", measure_column("binG")),
    ListedMeasure("G", gain_column("G(gain={gain})"), (), "values"),
    ListedMeasure("ndcg", gain_column("nDCG(gain={gain})"), (), "values"),
    ListedMeasure("ndcg_rel", gain_column("ndcg_rel(gain={gain})"), (), "values"),
    ListedMeasure("Rndcg", gain_levels, (), "values"),
    ListedMeasure("ndcg_cut", cutoff_columns("nDCG@{}", graded_scores), CUTOFFS, "cutoffs"),
    ListedMeasure("map_cut", cutoff_columns("AP@{}"), CUTOFFS, "cutoffs"),
    ListedMeasure("relative_P", cutoff_columns("RelP@{}"), CUTOFFS, "cutoffs"),
    ListedMeasure("success", cutoff_columns("Success@{}"), ("1", "5", "10"), "cutoffs"),
    ListedMeasure("set_P", measure_column("SetP")),
    ListedMeasure("set_relative_P", measure_column("SetRelP")),
    ListedMeasure("set_recall", measure_column("Recall")),
    ListedMeasure("set_map", measure_column("SetAP")),
    ListedMeasure("set_F", set_f, ("1.0",), "values"),
    ListedMeasure("num_nonrel_judged_ret", count_column("NumNonRelRet")),
    ListedMeasure("yaap", measure_column("yaap")),
    ListedMeasure("rbp", rank_biased, (), "values", since=10),
    ListedMeasure("rbp_resid", rank_biased, (), "values", since=10),
    ListedMeasure(
        "unj", cutoff_columns("Unjudged@{}", unjudged_share), ("5", "10", "20"), "cutoffs", since=10
    ),
)
"""trec_eval's measures, in the order in which it prints them."""

OFFICIAL = (
    "runid num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P"
)
SET = (
    "runid num_q num_ret num_rel num_rel_ret utility set_P set_recall set_relative_P set_map set_F"
)
NICKNAMES: dict[str, list[str]] = {
    "official": OFFICIAL.split(),
    "set": SET.split(),
    "all_trec": [listing.name for listing in LISTINGS if listing.name != "yaap"],
}
UNSUPPORTED = ("prefs", "all_prefs", "qrels_jg")


def requested_measures(settings: Settings) -> dict[str, str | None]:
    """The names of the measures asked for, each with its parameters; None stands for the default ones.

    If a measure is given parameters twice, the first ones count. Those of a nickname do not count.
    """
    known = {listing.name for listing in LISTINGS if listing.since <= settings.version}
    asked: dict[str, str | None] = {}
    for text in settings.measures or ("official",):
        name, dot, parameters = text.partition(".")
        if dot and not parameters:
            raise UsageError(f"measure {text!r}: expected parameters after the dot, such as P.5,10")
        if name in UNSUPPORTED or name.startswith("prefs_") or name.endswith("_avgjg"):
            raise UsageError(f"measure {name!r}: preferences and judgment groups are not supported")
        if name in NICKNAMES:
            for single in NICKNAMES[name]:
                if single in known:
                    asked.setdefault(single, None)
        elif name not in known:
            raise UsageError(f"there is no measure {name!r}; -m all_trec computes all of them")
        elif asked.get(name) is None:
            asked[name] = parameters if dot else None
    return asked


def columns(settings: Settings) -> list[ReportColumn]:
    """The columns that the asked-for measures make, in trec_eval's order."""
    asked = requested_measures(settings)
    made: list[ReportColumn] = []
    for listing in LISTINGS:
        if listing.name in asked:
            given = asked[listing.name]
            shown = listing.name if given is None else f"{listing.name}.{given}"
            try:
                made += columns_of(listing, given, settings)
            except (ParameterError, UsageError) as error:
                raise type(error)(f"measure {shown!r}: {error}") from None
            except MeasureError:
                raise ParameterError(f"measure {shown!r}: a parameter is out of range") from None
    return made


def columns_of(
    listing: ListedMeasure, given: str | None, settings: Settings
) -> Iterable[ReportColumn]:
    """The columns of one measure with these parameters; None stands for the default ones."""
    parameters = listing.defaults if given is None else tuple(given.split(","))
    label = listing.name
    if listing.takes == "nothing":
        parameters = ()
    elif listing.takes == "values":
        label += "" if given is None else f"_{given}"
    else:
        values = [
            parse_integer(x) if listing.takes == "cutoffs" else parse_number(x) for x in parameters
        ]
        if len(set(values)) < len(values):
            raise ParameterError("a parameter is given twice")
        if listing.takes == "cutoffs" and min(values) <= 0:
            raise ParameterError("cutoffs are whole numbers from 1")
    return listing.make(Request(label, parameters, settings))
