"""For authors of commands and studies: what rankgauge's own commands are made of.

- Results: `Record` and `Value` are classes of fields, `Result` is a result with a `Table` of `Cell`s and
  with `Note`s. `checked` checks an argument by its kind: `Whole`, `Number`, `Choice`.
- Commands: `register_command` makes a click command known. `takes` gives a command records of options,
  such as `Output`; an `OptionGroup` of your own declares its fields by `option` and `argument`, and
  `HeadedCommand` shows them under headings. `seed_option` and the others are options of our commands,
  for fields of groups or as decorators. `show` prints a table, `notify` notes, and `progress` a bar.
  `Incomplete` ends a command with the exit code 3.
- Files: `writing` leaves no half-written file behind, `OwnPath` follows no link below an output folder,
  and `write_sealed` writes JSON with a seal, which `read_sealed` checks.
- Figures and pages: `plotting` sets our style, `save_figure` writes the same bytes for the same figure.
  A `Page` is made of `Section`s, and `write_page` writes it as HTML.

Measures, metrics, rankers and the like are in the packages of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.core.lazy import lazy_names

if TYPE_CHECKING:
    from rankgauge.cli.commands import register_command
    from rankgauge.cli.groups import (
        HeadedCommand,
        LazyGroup,
        OptionGroup,
        argument,
        is_given,
        option,
        takes,
        together,
    )
    from rankgauge.cli.learning_options import (
        SET_NUMBER,
        by_option,
        set_share_option,
        set_size_options,
        setting_option,
        training_queries_option,
    )
    from rankgauge.cli.numbers import Decimal, WholeNumber, decimal, whole
    from rankgauge.cli.options import (
        Output,
        depth_option,
        encoder_option,
        folds_option,
        level_option,
        margin_option,
        method_option,
        method_plugin_option,
        output_option,
        plugin_option,
        preferences_option,
        queries_option,
        repeats_option,
        samples_option,
        seed_option,
        significance_test_option,
    )
    from rankgauge.cli.output import (
        Incomplete,
        fail_if_incomplete,
        line_width,
        notify,
        progress,
        show,
    )
    from rankgauge.cli.output_files import OUTPUT_FOLDER, make_folder
    from rankgauge.cli.tracks import (
        TrackOptions,
        feature_option,
        learner_option,
        read_tracks,
        target_option,
        track_options,
    )
    from rankgauge.cli.workers import workers, workers_options
    from rankgauge.core.arrays import Bools, Floats, Ints
    from rankgauge.core.checks import Choice, Number, Whole, checked, one_of
    from rankgauge.core.notes import Note, counted, worded
    from rankgauge.core.policies import LEVEL, LEVELS, SAMPLE_NUMBERS, SEED, SEEDS
    from rankgauge.core.records import Record, Value
    from rankgauge.core.resampling import Progress
    from rankgauge.core.results import Result
    from rankgauge.core.rounding import rounded
    from rankgauge.core.sealing import (
        SEAL,
        check_seal,
        json_bytes,
        read_json,
        read_object,
        read_sealed,
        unsealed,
        write_sealed,
    )
    from rankgauge.core.seeds import digest
    from rankgauge.core.tables import Cell, Table
    from rankgauge.figures.drawing import (
        BLUE,
        DASHED,
        GREY,
        INK,
        LINES,
        ORANGE,
        VERMILION,
        check_plotting,
        plotting,
        wrapped,
    )
    from rankgauge.figures.files import save_figure
    from rankgauge.io.files import display_name, read_bytes, remove_unfinished, writing
    from rankgauge.io.own_paths import OwnPath
    from rankgauge.report.pages import (
        Beside,
        Facts,
        Finding,
        Item,
        Listing,
        Page,
        Picture,
        Section,
        ShownTable,
        Text,
        check_pages,
        write_page,
    )

__all__ = [
    "BLUE",
    "DASHED",
    "GREY",
    "INK",
    "LEVEL",
    "LEVELS",
    "LINES",
    "ORANGE",
    "OUTPUT_FOLDER",
    "SAMPLE_NUMBERS",
    "SEAL",
    "SEED",
    "SEEDS",
    "SET_NUMBER",
    "VERMILION",
    "Beside",
    "Bools",
    "Cell",
    "Choice",
    "Decimal",
    "Facts",
    "Finding",
    "Floats",
    "HeadedCommand",
    "Incomplete",
    "Ints",
    "Item",
    "LazyGroup",
    "Listing",
    "Note",
    "Number",
    "OptionGroup",
    "Output",
    "OwnPath",
    "Page",
    "Picture",
    "Progress",
    "Record",
    "Result",
    "Section",
    "ShownTable",
    "Table",
    "Text",
    "TrackOptions",
    "Value",
    "Whole",
    "WholeNumber",
    "argument",
    "by_option",
    "check_pages",
    "check_plotting",
    "check_seal",
    "checked",
    "counted",
    "decimal",
    "depth_option",
    "digest",
    "display_name",
    "encoder_option",
    "fail_if_incomplete",
    "feature_option",
    "folds_option",
    "is_given",
    "json_bytes",
    "learner_option",
    "level_option",
    "line_width",
    "make_folder",
    "margin_option",
    "method_option",
    "method_plugin_option",
    "notify",
    "one_of",
    "option",
    "output_option",
    "plotting",
    "plugin_option",
    "preferences_option",
    "progress",
    "queries_option",
    "read_bytes",
    "read_json",
    "read_object",
    "read_sealed",
    "read_tracks",
    "register_command",
    "remove_unfinished",
    "repeats_option",
    "rounded",
    "samples_option",
    "save_figure",
    "seed_option",
    "set_share_option",
    "set_size_options",
    "setting_option",
    "show",
    "significance_test_option",
    "takes",
    "target_option",
    "together",
    "track_options",
    "training_queries_option",
    "unsealed",
    "whole",
    "worded",
    "workers",
    "workers_options",
    "wrapped",
    "write_page",
    "write_sealed",
    "writing",
]

_BY_MODULE = {
    "cli.commands": "register_command",
    "cli.groups": "HeadedCommand LazyGroup OptionGroup argument is_given option takes together",
    "cli.learning_options": (
        "SET_NUMBER by_option set_share_option set_size_options setting_option "
        "training_queries_option"
    ),
    "cli.numbers": "Decimal WholeNumber decimal whole",
    "cli.options": (
        "Output depth_option encoder_option folds_option level_option margin_option "
        "method_option method_plugin_option output_option plugin_option preferences_option "
        "queries_option repeats_option samples_option seed_option significance_test_option"
    ),
    "cli.output": "Incomplete fail_if_incomplete line_width notify progress show",
    "cli.output_files": "OUTPUT_FOLDER make_folder",
    "cli.tracks": (
        "TrackOptions feature_option learner_option read_tracks target_option track_options"
    ),
    "cli.workers": "workers workers_options",
    "core.arrays": "Bools Floats Ints",
    "core.checks": "Choice Number Whole checked one_of",
    "core.notes": "Note counted worded",
    "core.policies": "LEVEL LEVELS SAMPLE_NUMBERS SEED SEEDS",
    "core.records": "Record Value",
    "core.resampling": "Progress",
    "core.results": "Result",
    "core.rounding": "rounded",
    "core.sealing": (
        "SEAL check_seal json_bytes read_json read_object read_sealed unsealed write_sealed"
    ),
    "core.seeds": "digest",
    "core.tables": "Cell Table",
    "figures.drawing": (
        "BLUE DASHED GREY INK LINES ORANGE VERMILION check_plotting plotting wrapped"
    ),
    "figures.files": "save_figure",
    "io.files": "display_name read_bytes remove_unfinished writing",
    "io.own_paths": "OwnPath",
    "report.pages": (
        "Beside Facts Finding Item Listing Page Picture Section ShownTable Text check_pages "
        "write_page"
    ),
}
_HOMES = {
    name: f"rankgauge.{module}" for module, names in _BY_MODULE.items() for name in names.split()
}
if not TYPE_CHECKING:  # which would take any name for one of these
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
