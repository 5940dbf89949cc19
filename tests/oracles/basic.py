"""The measures of the foundation, straight from their definitions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

Labels = Sequence[int]
Gain = str | dict[int, float]


# Parts of the definitions


def is_relevant(label: int, rel: int) -> bool:
    """Judged, and label >= rel."""
    return label >= 0 and label >= rel


def count_relevant(labels: Labels, rel: int) -> int:
    """Number of relevant labels; R when given all the judged labels."""
    return sum(1 for label in labels if is_relevant(label, rel))


def count_nonrelevant(labels: Labels, rel: int) -> int:
    """Number of judged labels that are not relevant: 0 <= label < rel."""
    return sum(1 for label in labels if 0 <= label < rel)


def top(ranking: Labels, k: int | None) -> list[int]:
    """The first k labels, or all of them."""
    if k is None:
        return list(ranking)
    if k < 1:
        raise ValueError("the cut-off must be at least 1")
    return list(ranking[:k])


def required(k: int | None) -> int:
    """The cut-off of a measure that needs one."""
    if k is None:
        raise ValueError("this measure needs a cut-off")
    return k


def forbidden(k: int | None) -> None:
    """Refuse the cut-off of a measure that has none."""
    if k is not None:
        raise ValueError("this measure takes no cut-off")


def gain_of(label: int, gain: Gain, max_grade: int) -> float:
    """linear: label; exp2: 2^label - 1; scaled: (2^label - 1) / 2^G; fraction: label / G; or a map.

    A label that the map does not name keeps its linear gain. Unjudged: 0.
    """
    if label < 0:
        return 0.0
    if isinstance(gain, dict):
        return float(gain.get(label, label))
    if gain == "linear":
        return float(label)
    if gain == "exp2":
        return 2.0**label - 1.0
    if gain == "scaled":
        return (2.0**label - 1.0) / 2.0**max_grade
    if gain == "fraction":
        return label / max_grade
    raise ValueError(f"unknown gain {gain!r}")


def discount_at(i: int, discount: str) -> float:
    """log2: 1/log2(i+1); zipf: 1/i; log_b: 1 while i < b, then 1/log_b(i)."""
    if discount == "log2":
        return 1.0 / math.log2(i + 1)
    if discount == "zipf":
        return 1.0 / i
    if discount.startswith("log_"):
        base = int(discount[len("log_") :])
        if base < 2:
            raise ValueError("the base of the discount must be at least 2")
        if i < base:
            return 1.0
        return math.log(base) / math.log(i)
    raise ValueError(f"unknown discount {discount!r}")


def discounted_sum(gains: Iterable[float], discount: str) -> float:
    """sum_i discount(i) * g_i."""
    return math.fsum(g * discount_at(i, discount) for i, g in enumerate(gains, 1))


# Measures


def precision(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1
) -> float:
    """P@k = hits / k, also when fewer than k documents are ranked."""
    k = required(k)
    return count_relevant(top(ranking, k), rel) / k


def recall(ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1) -> float:
    """Recall@k = hits / R; 0 when R = 0."""
    r = count_relevant(judged, rel)
    if r == 0:
        return 0.0
    return count_relevant(top(ranking, k), rel) / r


def sum_of_precisions(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1
) -> float:
    """SP@k = sum over the relevant ranks i <= k of P@i."""
    terms = []
    for i, label in enumerate(top(ranking, k), 1):
        if is_relevant(label, rel):
            terms.append(count_relevant(ranking[:i], rel) / i)
    return math.fsum(terms)


def scaled_sum_of_precisions(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1
) -> float:
    """SSP@k = SP@k / k."""
    k = required(k)
    return sum_of_precisions(ranking, judged, max_grade, k, rel) / k


def average_precision(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    rel: int = 1,
    norm: str = "R",
) -> float:
    """AP@k = SP@k / norm, norm being R, min(k, R) or k; 0 when R = 0."""
    r = count_relevant(judged, rel)
    if norm == "R":
        divisor = r
    elif norm == "min":
        divisor = r if k is None else min(k, r)
    elif norm == "k":
        divisor = required(k)
    else:
        raise ValueError(f"unknown norm {norm!r}")
    if r == 0:
        return 0.0
    return sum_of_precisions(ranking, judged, max_grade, k, rel) / divisor


def cumulated_gain(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    gain: Gain = "linear",
) -> float:
    """CG@k = sum_{i<=k} g_i."""
    return math.fsum(gain_of(label, gain, max_grade) for label in top(ranking, k))


def dcg(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    gain: Gain = "linear",
    discount: str = "log2",
) -> float:
    """DCG@k = sum_{i<=k} discount(i) * g_i."""
    gains = [gain_of(label, gain, max_grade) for label in top(ranking, k)]
    return discounted_sum(gains, discount)


def ideal_dcg(
    judged: Labels,
    max_grade: int,
    k: int | None,
    gain: Gain = "linear",
    discount: str = "log2",
) -> float:
    """IDCG@k: DCG of the positive judged gains in descending order, cut at k."""
    gains = [gain_of(label, gain, max_grade) for label in judged]
    best = sorted((g for g in gains if g > 0), reverse=True)
    if k is not None:
        best = best[:k]
    return discounted_sum(best, discount)


def ndcg(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    gain: Gain = "linear",
    discount: str = "log2",
) -> float:
    """nDCG@k = DCG@k / IDCG@k; 0 when IDCG@k = 0."""
    ideal = ideal_dcg(judged, max_grade, k, gain, discount)
    if ideal == 0:
        return 0.0
    return dcg(ranking, judged, max_grade, k, gain, discount) / ideal


def letor_ndcg(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int,
    gain: Gain = "exp2",
    discount: str = "log_2",
) -> float:
    """nDCG@k of a query with at least k judged documents, else 0."""
    return 0.0 if len(judged) < k else ndcg(ranking, judged, max_grade, k, gain, discount)


def scaled_dcg(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    gain: Gain = "linear",
    discount: str = "log2",
) -> float:
    """SDCG@k = DCG@k / sum_{i<=k} discount(i)."""
    k = required(k)
    scale = math.fsum(discount_at(i, discount) for i in range(1, k + 1))
    return dcg(ranking, judged, max_grade, k, gain, discount) / scale


def reciprocal_rank(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1
) -> float:
    """RR@k = 1 / rank of the first relevant document; 0 if none is in the top k."""
    for i, label in enumerate(top(ranking, k), 1):
        if is_relevant(label, rel):
            return 1.0 / i
    return 0.0


def success(ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1) -> float:
    """Success@k = 1 if a relevant document is in the top k, else 0."""
    return 1.0 if count_relevant(top(ranking, k), rel) > 0 else 0.0


def r_precision(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    rel: int = 1,
    times: float = 1.0,
) -> float:
    """Rprec = relevant documents in the top c / c, c = times * R + 0.9 cut to a whole number.

    c is R where `times` is 1. 0 when c = 0.
    """
    forbidden(k)
    c = int(times * count_relevant(judged, rel) + 0.9)
    if c == 0:
        return 0.0
    return count_relevant(ranking[:c], rel) / c


def rank_biased_precision(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    p: float = 0.8,
    rel: int = 1,
    gain: Gain | None = None,
) -> float:
    """RBP@k = (1 - p) * sum_{i<=k} p^(i-1) * g_i; g_i is 0 or 1 without a gain."""
    terms = []
    for i, label in enumerate(top(ranking, k), 1):
        if gain is None:
            g = 1.0 if is_relevant(label, rel) else 0.0
        else:
            g = gain_of(label, gain, max_grade)
        terms.append(p ** (i - 1) * g)
    return (1.0 - p) * math.fsum(terms)


def expected_reciprocal_rank(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None
) -> float:
    """ERR@k = sum_{i<=k} (1/i) rho_i prod_{j<i} (1 - rho_j).

    rho = (2^label - 1) / 2^G.
    """
    rhos = [gain_of(label, "scaled", max_grade) for label in top(ranking, k)]
    terms = []
    for i, rho in enumerate(rhos, 1):
        reach = math.prod(1.0 - above for above in rhos[: i - 1])
        terms.append(reach * rho / i)
    return math.fsum(terms)


def bpref(ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1) -> float:
    """bpref = (1/R) sum_{retrieved relevant} [1 - min(n_above, R) / min(N, R)].

    n_above counts the judged non-relevant documents ranked above; the term is 1
    where it is 0. 0 when R = 0.
    """
    r = count_relevant(judged, rel)
    n = count_nonrelevant(judged, rel)
    if r == 0:
        return 0.0
    seen = top(ranking, k)
    terms = []
    for i, label in enumerate(seen):
        if is_relevant(label, rel):
            above = count_nonrelevant(seen[:i], rel)
            terms.append(1.0 if above == 0 else 1.0 - min(above, r) / min(n, r))
    return math.fsum(terms) / r


def search_length(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    rel: int = 1,
    j: int = 1,
) -> float:
    """Non-relevant documents, unjudged included, before the j-th relevant one.

    nan when R < j. When fewer than j relevant documents are ranked, every
    non-relevant document comes first: N + unjudged documents in the ranking.
    """
    forbidden(k)
    if count_relevant(judged, rel) < j:
        return math.nan
    found = 0
    passed = 0
    for label in ranking:
        if is_relevant(label, rel):
            found += 1
            if found == j:
                return float(passed)
        else:
            passed += 1
    unjudged = sum(1 for label in ranking if label < 0)
    return float(count_nonrelevant(judged, rel) + unjudged)


def judged_share(ranking: Labels, judged: Labels, max_grade: int, k: int | None) -> float:
    """Judged@k = the judged share of the documents in the top k; 0 for an empty ranking."""
    if len(ranking) == 0:
        return 0.0
    return sum(1 for label in top(ranking, k) if label >= 0) / len(top(ranking, k))


SCORES: dict[str, Callable[..., float]] = {
    "P": precision,
    "Recall": recall,
    "AP": average_precision,
    "SP": sum_of_precisions,
    "SSP": scaled_sum_of_precisions,
    "CG": cumulated_gain,
    "DCG": dcg,
    "nDCG": ndcg,
    "nDCG_LETOR": letor_ndcg,
    "SDCG": scaled_dcg,
    "RR": reciprocal_rank,
    "Success": success,
    "Rprec": r_precision,
    "RBP": rank_biased_precision,
    "ERR": expected_reciprocal_rank,
    "bpref": bpref,
    "SearchLength": search_length,
    "ESL": search_length,
    "Judged": judged_share,
}
