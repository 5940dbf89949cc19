"""Modules that moved: until the next release they are also found under their old names."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

INTO_CORE = (
    "arrays checks fitting lazy notes parameters plugins policies records resampling results rounding "
    "seeds tables"
)
INTO_IO = (
    "cache compression csv_files decoder files json_files json_lists kinds "
    "layouts letor own_paths parquet_files parts scanning table_files trec"
)
IN_TEXT = {
    "human": "agreement pairwise preferences ratings shared",
    "data": "texts files",
    "metrics": "embedding functions matching rouge rouge_chance rouge_library rouge_words",
}
INTO_WORKERS = {
    "sharing": "places tasks",
    "executors": "crews",
    "dask": "clusters",
    "dask_sharing": "on_workers packing scattering",
}
MOVED = {
    **{f"rankgauge.{name}": f"rankgauge.core.{name}" for name in INTO_CORE.split()},
    **{f"rankgauge.data.{name}": f"rankgauge.io.{name}" for name in INTO_IO.split()},
    **{
        f"rankgauge.text.{name}": f"rankgauge.text.{folder}.{name}"
        for folder, names in IN_TEXT.items()
        for name in names.split()
    },
    **{
        f"rankgauge.measures.distances{name}": f"rankgauge.distance.algorithms{name}"
        for name in ("", ".lists", ".single", ".staircase", ".weighted")
    },
    "rankgauge.measures.distances.search": "rankgauge.distance.algorithms.any_measure",
    "rankgauge.distance.algorithms.search": "rankgauge.distance.algorithms.any_measure",
    **{f"rankgauge.report.{name}": "rankgauge.report.section_pages" for name in ("html", "pages")},
    "rankgauge.text.bert_chance": "rankgauge.text.metrics.bertscore_chance",
    "rankgauge.text.bert_metric": "rankgauge.text.metrics.bertscore",
    "rankgauge.text.bert_nulls": "rankgauge.text.metrics.bertscore_chance",
    "rankgauge.text.rouge_family": "rankgauge.text.metrics.rouge",
    "rankgauge.text.correlations": "rankgauge.text.human.coefficients",
    "rankgauge.text.human_results": "rankgauge.text.human.results",
    "rankgauge.cli.study": "rankgauge_studies.command",
    **{
        f"rankgauge.cli.study_{name}": f"rankgauge_studies.{name}.command"
        for name in ("forecast", "text", "ue")
    },
    "rankgauge.evaluation.runs": "rankgauge.evaluation.scorer",
    "rankgauge.evaluation.parts": "rankgauge.evaluation.split_runs",
    "rankgauge.evaluation.tasks": "rankgauge.evaluation.split_runs",
    "rankgauge.measures.labelling": "rankgauge.measures.labeling",
    "rankgauge.data.errors": "rankgauge.errors",
    "rankgauge.data.tables": "rankgauge.data.frames",
    "rankgauge.rankers.best_feature": "rankgauge.rankers.evaluations",
    "rankgauge.rankers.catalogue": "rankgauge.rankers.registry",
    "rankgauge.rankers.newton": "rankgauge.rankers.logistic_regression",
    "rankgauge.rankers.objectives": "rankgauge.rankers.settings",
    "rankgauge.report.chance": "rankgauge.report.content",
    "rankgauge.report.numbers": "rankgauge.report.page_data",
    "rankgauge.scores.frames": "rankgauge.scores.tables",
    "rankgauge.forecast.pool_scores": "rankgauge.forecast.pools",
    "rankgauge.forecast.samples": "rankgauge.forecast.estimates",
    "rankgauge.forecast.score_tracks": "rankgauge.forecast.tracks",
    "rankgauge.data.json_text": "rankgauge.io.rows",
    "rankgauge.io.json_text": "rankgauge.io.rows",
    "rankgauge.data.groups": "rankgauge.io.letor",
    "rankgauge.io.groups": "rankgauge.io.letor",
    "rankgauge.data.json_rows": "rankgauge.io.json_files",
    "rankgauge.io.json_rows": "rankgauge.io.json_files",
    "rankgauge.text.rows": "rankgauge.io.rows",
    "rankgauge.text.data.rows": "rankgauge.io.rows",
    **{
        f"rankgauge.workers.{name}": f"rankgauge.workers.{new}"
        for new, names in INTO_WORKERS.items()
        for name in names.split()
    },
    "rankgauge.separate.messages": "rankgauge.separate.inside",
    "rankgauge.evaluation.mismatch": "rankgauge.io.diagnosis",
    "rankgauge.space.documents": "rankgauge.space.inputs",
    "rankgauge.space.nonlinear.walks": "rankgauge.space.nonlinear.roots",
    "rankgauge.space.noticed": "rankgauge.space.trajectories",
    "rankgauge.figures.correlations": "rankgauge.figures.intervals",
    "rankgauge.figures.documents": "rankgauge.figures.studies",
    "rankgauge.figures.tuning": "rankgauge.figures.parameters",
    "rankgauge.figures.weights": "rankgauge.figures.space",
}
"""The new names by the old ones."""

PACKAGES = {
    "rankgauge.studies.optimisation": "rankgauge_studies.optimization",
    "rankgauge_studies.optimisation": "rankgauge_studies.optimization",
    "rankgauge.studies": "rankgauge_studies",
}
"""Packages that moved with all their contents, as a mapping from the old name to the new one."""


def install_module_finder() -> None:
    """From now on, a module is also imported by its old name, with a warning that has the new one."""
    sys.meta_path.insert(
        0, _MovedModuleFinder
    )  # before others look into the folder of an old package


def new_name(old: str) -> str | None:
    """The name that a module has now; None if it has not moved.

    >>> new_name("rankgauge.studies.ue.tables")
    'rankgauge_studies.ue.tables'
    """
    if old in MOVED:
        return MOVED[old]
    for package, new in PACKAGES.items():
        if old == package or old.startswith(f"{package}."):
            return new + old.removeprefix(package)
    return None


RENAMED = {
    "rankgauge": {"topics_needed": "queries_needed"},
    "rankgauge.comparison": {
        "Assessed": "MeasureAssessment",
        "Testing": "AssessmentDesign",
        "swapped_pairs": "count_swapped_pairs",
    },
    "rankgauge.core.checks": {"Whole": "Integer", "checked": "check_value"},
    "rankgauge.core.resampling": {"Drawing": "SamplingOptions", "all_signs": "tries_all_signs"},
    "rankgauge.distance.advice": {"judged": "assign_labels"},
    "rankgauge.extending": {
        "Beside": "SideBySide",
        "GREY": "GRAY",
        "Whole": "Integer",
        "checked": "check_value",
        "counted": "count_phrase",
        "decimal": "parse_decimal",
        "rounded": "round_values",
        "together": "combine_options",
        "unsealed": "missing_seal_note",
        "whole": "parse_integer",
        "worded": "note_texts",
        "wrapped": "wrap_text",
        "writing": "atomic_write",
    },
    "rankgauge.forecast": {"choose_topics": "choose_queries"},
    "rankgauge.fusion.tuned": {"inward": "round_inward"},
    "rankgauge.measures.names": {"UNCLEAR": "AMBIGUOUS_NAMES"},
    "rankgauge.query_sets": {
        "AboveChance": "ChanceComparison",
        "By": "ChanceDifference",
        "HowMany": "SelectionSize",
        "LeftOut": "Exclusion",
        "above_chance": "compare_with_chance",
    },
    "rankgauge.space": {"jittered": "add_jitter"},
}
"""Names that changed: for each package or module the new name by the old one."""


def new_home(package: str, name: str) -> tuple[str, str] | None:
    """The package, and the name in it, of what a package had under this name until the last release.

    All measures were names of `rankgauge` itself: whether the name is one of them is not checked here.

    >>> new_home("rankgauge", "ESL")
    ('rankgauge.measures', 'ESL')
    >>> new_home("rankgauge.space", "jittered")
    ('rankgauge.space', 'add_jitter')
    """
    if name in RENAMED.get(package, {}):
        return package, RENAMED[package][name]
    return ("rankgauge.measures", name) if package == "rankgauge" else None


class _MovedModuleFinder:
    """What `sys.meta_path` asks for a module that no other finder has."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        new = new_name(name)
        return None if new is None else ModuleSpec(name, _MovedModuleLoader(new))  # type: ignore[arg-type]


class _MovedModuleLoader:
    """Loads the module of another name."""

    def __init__(self, new: str) -> None:
        self.new = new

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        from rankgauge.errors import warn_old_form

        warn_old_form(spec.name, self.new)
        module = importlib.import_module(self.new)
        self.spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Nothing is left to do, but the import has put the old name into the module."""
        module.__spec__ = self.spec
