"""What the UE paper printed, as numbers: the means of its methods, and its other tables.

Feng and Karmaker, Joint upper & expected value normalization for evaluation of retrieval systems (2023).
The means on MSLR-WEB30K are those of Tables 3, 5, 15 and 17. Those on MQ2007 have the four digits of
Feng's dissertation (Tables 6.2, 6.4, 7.2 and 7.4), where Tables 4, 6, 16 and 18 of the paper have three.
Printed numbers are truncated. docs/ERRATA.md says which cannot be right; here they are as printed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from rankgauge.comparison.assessed import ALL
from rankgauge.extending import Cell, Floats, Table
from rankgauge_studies.ue.experiment import Parts, assess_version
from rankgauge_studies.ue.protocol import CASES, CUTOFFS, VERSIONS
from rankgauge_studies.ue.tables import SETS, score_table

MSLR, MQ2007 = COLLECTIONS = ("MSLR-WEB30K", "MQ2007")
METHODS = {
    "AdaRank": "ARank",
    "ListNet": "LNet",
    "RankBoost": "RBoost",
    "RandomForest": "RF",
    "RankNet": "RNet",
    "CoordinateAscent": "CA",
    "LogisticRegression": "L2LR",
    "LambdaMART": "LMART",
}
"""Our names for the methods and the paper's, in the order of its tables."""


def _matrix(text: str) -> Floats:
    """Method × cutoff."""
    return np.array([[float(cell) for cell in line.split()] for line in text.strip().splitlines()])


MEANS: Mapping[str, Mapping[str, Mapping[str, Floats]]] = {
    MSLR: {
        "nDCG": {
            "nDCG": _matrix("""
                0.321 0.349 0.370 0.389 0.423
                0.153 0.182 0.206 0.228 0.268
                0.306 0.334 0.357 0.377 0.414
                0.383 0.411 0.432 0.449 0.479
                0.154 0.183 0.207 0.229 0.269
                0.398 0.413 0.428 0.442 0.470
                0.197 0.237 0.269 0.297 0.344
                0.436 0.454 0.470 0.485 0.513
            """),
            "V1": _matrix("""
                0.249 0.261 0.271 0.281 0.299
                0.097 0.112 0.125 0.138 0.161
                0.232 0.247 0.260 0.270 0.290
                0.304 0.318 0.328 0.336 0.350
                0.098 0.113 0.126 0.138 0.162
                0.318 0.320 0.325 0.330 0.342
                0.137 0.160 0.180 0.198 0.227
                0.354 0.358 0.364 0.370 0.381
            """),
            "V2": _matrix("""
                0.237 0.253 0.264 0.276 0.296
                0.046 0.060 0.072 0.083 0.104
                0.221 0.237 0.250 0.262 0.285
                0.308 0.326 0.338 0.347 0.365
                0.047 0.061 0.072 0.084 0.105
                0.325 0.328 0.334 0.340 0.354
                0.098 0.124 0.147 0.167 0.199
                0.367 0.374 0.382 0.390 0.405
            """),
        },
        "MAP": {
            "MAP": _matrix("""
                0.541 0.494 0.472 0.459 0.449
                0.320 0.299 0.293 0.291 0.294
                0.544 0.496 0.475 0.461 0.452
                0.621 0.571 0.543 0.524 0.505
                0.321 0.300 0.293 0.291 0.295
                0.623 0.563 0.530 0.510 0.490
                0.356 0.335 0.333 0.335 0.345
                0.648 0.592 0.561 0.541 0.519
            """),
            "V1": _matrix("""
                0.385 0.338 0.315 0.301 0.286
                0.197 0.173 0.164 0.159 0.157
                0.390 0.342 0.319 0.305 0.290
                0.457 0.407 0.379 0.359 0.336
                0.198 0.174 0.165 0.160 0.158
                0.459 0.400 0.367 0.347 0.323
                0.226 0.201 0.196 0.195 0.198
                0.482 0.426 0.394 0.374 0.348
            """),
            "V2": _matrix("""
                0.347 0.305 0.279 0.261 0.237
                -0.072 -0.057 -0.050 -0.045 -0.038
                0.350 0.301 0.275 0.256 0.233
                0.478 0.427 0.390 0.360 0.322
                -0.071 -0.055 -0.049 -0.045 -0.038
                0.483 0.412 0.367 0.338 0.297
                -0.022 -0.004 0.014 0.031 0.055
                0.525 0.463 0.421 0.389 0.346
            """),
        },
    },
    MQ2007: {
        "nDCG": {
            "nDCG": _matrix("""
                0.3881 0.4156 0.448 0.4797 0.5372
                0.3767 0.4035 0.4384 0.4687 0.5282
                0.3834 0.414 0.449 0.4807 0.5355
                0.4035 0.4286 0.4609 0.4914 0.5476
                0.3809 0.4131 0.4451 0.4764 0.536
                0.3928 0.4207 0.4544 0.4824 0.5399
                0.3873 0.4159 0.4474 0.4779 0.538
                0.3931 0.4206 0.4535 0.4857 0.5441
            """),
            "V1": _matrix("""
                0.2882 0.2991 0.3157 0.3314 0.3558
                0.2777 0.2886 0.3068 0.3213 0.3481
                0.2822 0.2975 0.3161 0.3317 0.3542
                0.2992 0.3095 0.3262 0.3409 0.3642
                0.2791 0.2957 0.3133 0.3271 0.3536
                0.2911 0.3031 0.32 0.3335 0.3582
                0.2858 0.2991 0.315 0.3295 0.3562
                0.2901 0.3019 0.3192 0.3355 0.361
            """),
            "V2": _matrix("""
                0.1348 0.2092 0.2587 0.2995 0.3638
                0.1141 0.1872 0.2485 0.284 0.3453
                0.1359 0.2061 0.2633 0.3042 0.3635
                0.1681 0.2356 0.2859 0.3223 0.3866
                0.1177 0.2044 0.2554 0.2908 0.3573
                0.1512 0.2214 0.2762 0.3029 0.3666
                0.1331 0.2097 0.2599 0.3001 0.368
                0.1636 0.2311 0.2806 0.3183 0.3801
            """),
        },
        "MAP": {
            "MAP": _matrix("""
                0.3066 0.2923 0.302 0.3173 0.3624
                0.3379 0.3233 0.3328 0.3468 0.3905
                0.3467 0.3366 0.3477 0.3636 0.4035
                0.3674 0.352 0.3585 0.3736 0.414
                0.3281 0.3175 0.3275 0.3443 0.3878
                0.3597 0.3457 0.356 0.3716 0.4127
                0.3543 0.3386 0.3458 0.3607 0.404
                0.3582 0.3459 0.3539 0.3692 0.4101
            """),
            "V1": _matrix("""
                0.2366 0.219 0.2222 0.2287 0.2478
                0.2676 0.2492 0.2519 0.257 0.2744
                0.2738 0.2603 0.2647 0.2714 0.2853
                0.2914 0.2732 0.2739 0.28 0.2941
                0.259 0.2443 0.2476 0.2552 0.2724
                0.2863 0.2689 0.2728 0.2794 0.2941
                0.2806 0.2622 0.2633 0.2693 0.2861
                0.2829 0.2673 0.2691 0.2755 0.2905
            """),
            "V2": _matrix("""
                0.0392 0.0778 0.0116 0.14 0.1905
                0.0909 0.1315 0.1638 0.1846 0.2257
                0.123 0.154 0.188 0.213 0.2513
                0.1586 0.1904 0.206 0.226 0.2729
                0.085 0.1308 0.1567 0.1825 0.222
                0.1422 0.1741 0.198 0.2204 0.2584
                0.1232 0.1548 0.1846 0.2093 0.2543
                0.1541 0.1949 0.2138 0.2369 0.2725
            """),
        },
    },
}
"""By data set, case and version: method × cutoff."""

_ROWS: Mapping[str, Mapping[str, Mapping[str, tuple[tuple[float, ...], ...]]]] = {
    "tau": {
        "nDCG": {
            MSLR: ((1, 0.928, 1), (1, 0.850, 1)),
            MQ2007: ((1, 1, 1), (0.785, 0.928, 1)),
        },
        "MAP": {
            MSLR: ((1.0, 1.0, 1.0), (0.928, 0.857, 0.928)),
            MQ2007: ((1.0, 1.0, 1.0), (0.785, 0.624, 1.0)),
        },
    },
    "conflicts": {
        "nDCG": {MSLR: ((0, 18, 0), (0, 46, 0)), MQ2007: ((0, 20, 1), (6, 24, 8))},
        "MAP": {MSLR: ((0, 15, 2), (0, 36, 4)), MQ2007: ((1, 2, 3), (8, 21, 17))},
    },
    "significant": {
        "nDCG": {
            MSLR: ((133, 33, 130), (133, 51, 130), (133, 78, 130)),
            MQ2007: ((0, 9, 7), (0, 29, 8), (6, 33, 15)),
        },
        "MAP": {
            MSLR: ((129, 61, 122), (129, 76, 124), (129, 81, 122)),
            MQ2007: ((45, 0, 71), (50, 2, 74), (59, 21, 88)),
        },
    },
    "pad": {
        "nDCG": {
            MSLR: ((31.0, 7.39, 35.74), (35.7, 9.98, 40.21), (46.7, 41.75, 44.53)),
            MQ2007: ((1.74, 5.85, 1.61), (3.6, 7.825, 1.98), (6.42, 44.81, 2.98)),
        },
        "MAP": {
            MSLR: ((25.57, 12.28, 30.18), (31.84, 16.0, 35.53), (97.63, 25.65, 48.29)),
            MQ2007: ((5.91, 5.89, 6.77), (6.86, 7.19, 8.04), (20.01, 28.27, 13.49)),
        },
    },
}
"""Tables 7 to 10 and 19 to 22: rows of versions; all, uninformative and ideal queries."""

_SWAPS: Mapping[str, Mapping[str, Mapping[str, tuple[float, ...]]]] = {
    "swaps-data": {
        "nDCG": {
            "all": (0.107, 0.107, 0.107),
            "uninformative": (0.42, 0.42, 0.42),
            "ideal": (0.35, 0.35, 0.35),
        },
        "MAP": {
            "all": (0.25, 0.25, 0.178),
            "uninformative": (0.357, 0.321, 0.25),
            "ideal": (0.285, 0.25, 0.321),
        },
    },
    "swaps-sets": {
        "nDCG": {MSLR: (0.21, 0.25, 0.21), MQ2007: (0.5, 0.5, 0.5)},
        "MAP": {MSLR: (0.142, 0.142, 0.107), MQ2007: (0.392, 0.392, 0.285)},
    },
    "swaps-breadth": {"nDCG": {MSLR: (0.25, 0.25, 0.25)}, "MAP": {MSLR: (0.03, 0.03, 0.0)}},
    "swaps-documents": {"nDCG": {MSLR: (0.0, 0.0, 0.0)}, "MAP": {MSLR: (0.0, 0.0, 0.0)}},
}
"""Tables 11 to 14 and 23 to 26: the measure, V1 and V2."""


class Counts(NamedTuple):
    """What Table 1 says of a data set."""

    documents: int
    queries: int
    features: int

    def same(self, other: Counts) -> bool:
        """Whether these can be the counts of the same data.

        Queries and features are counted exactly; documents are not: Table 1 rounds one of its two
        numbers, and the other one, 65,323, is 38.6 documents a query, where section 6.1 has 41.47.
        """
        near = abs(self.documents - other.documents) <= DOCUMENT_TOLERANCE * other.documents
        return near and self[1:] == other[1:]


DOCUMENT_TOLERANCE = 0.1
TABLE_1 = {MSLR: Counts(3_771_000, 31_531, 136), MQ2007: Counts(65_323, 1_692, 46)}


def find_data_set(name: str) -> str | None:
    """The data set of the paper that has this name, however it is spelled."""
    plain = "".join(letter for letter in name.lower() if letter.isalnum())
    return next((each for each in COLLECTIONS if each.lower().replace("-", "") == plain), None)


def statistics(collections: tuple[str, ...] = COLLECTIONS) -> Table | None:
    """Table 1, of these data sets; None where there are none."""
    shown: dict[str, Cell] = {MSLR: "~3771 K", MQ2007: "65323"}
    columns = ("data", "documents", "queries", "features")
    rows = tuple((name, shown[name], *TABLE_1[name][1:]) for name in collections)
    return Table(columns, rows) if collections else None


def parts_of_means(collection: str, case: str) -> Parts:
    """What the printed means alone say: the order of the methods, without tests."""
    means = MEANS[collection][case]
    return {
        ALL: {
            version: assess_version(version, values.T[:, :, None], None)
            for version, values in means.items()
        }
    }


def published_table(
    subject: str, case: str, collections: tuple[str, ...] = COLLECTIONS
) -> Table | None:
    """The paper's table of a subject, of these data sets; None where it has none."""
    rows: list[tuple[Cell, ...]] = []
    (name,) = (each for each in CASES if each.name == case)
    if subject in ("scores", "normalized"):
        (collection,) = collections
        versions = (case,) if subject == "scores" else VERSIONS
        chosen = {version: MEANS[collection][case][version] for version in versions}
        return score_table(tuple(METHODS), CUTOFFS, chosen)
    if subject in _ROWS:
        for collection in collections:
            own = _ROWS[subject][case][collection]
            labels = name.rows if len(own) == 3 else [f"vs {each}" for each in VERSIONS]
            rows += [(collection, label, *row) for label, row in zip(labels, own, strict=True)]
        return Table(("data", "version", *SETS), tuple(rows))
    across = subject == "swaps-data"
    if across and set(collections) != set(COLLECTIONS):
        return None
    for label, rates in _SWAPS[subject][case].items():
        if across or label in collections:
            rows += [(label, version, rate) for version, rate in zip(name.rows, rates, strict=True)]
    return (
        Table(("queries" if across else "data", "version", "swap rate"), tuple(rows))
        if rows
        else None
    )
