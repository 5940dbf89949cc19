"""For authors of commands and studies: what rankgauge's own commands are made of.

- Results: `Record` and `Value` are classes of fields, `Result` is a result with a `Table` of `Cell`s and
  with `Note`s. `checked` checks an argument by its kind: `Whole`, `Number`, `Choice`.
- Commands: `register_command` makes a click command known. `output_option`, `seed_option` and the others
  declare options as our commands do. `show` prints a table, `notify` notes, and `progress` a bar.
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
    from rankgauge.cli.numbers import Decimal, WholeNumber, decimal, whole
    from rankgauge.cli.options import (
        level_option,
        output_option,
        plugin_option,
        samples_option,
        seed_option,
        together,
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
    from rankgauge.report.html import (
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
    "VERMILION",
    "Beside",
    "Bools",
    "Cell",
    "Choice",
    "Decimal",
    "Facts",
    "Finding",
    "Floats",
    "Incomplete",
    "Ints",
    "Item",
    "Listing",
    "Note",
    "Number",
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
    "Value",
    "Whole",
    "WholeNumber",
    "check_pages",
    "check_plotting",
    "check_seal",
    "checked",
    "counted",
    "decimal",
    "digest",
    "display_name",
    "fail_if_incomplete",
    "json_bytes",
    "level_option",
    "line_width",
    "make_folder",
    "notify",
    "one_of",
    "output_option",
    "plotting",
    "plugin_option",
    "progress",
    "read_bytes",
    "read_json",
    "read_object",
    "read_sealed",
    "register_command",
    "remove_unfinished",
    "rounded",
    "samples_option",
    "save_figure",
    "seed_option",
    "show",
    "together",
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

_HOMES = {
    "BLUE": "rankgauge.figures.drawing",
    "DASHED": "rankgauge.figures.drawing",
    "GREY": "rankgauge.figures.drawing",
    "INK": "rankgauge.figures.drawing",
    "LEVEL": "rankgauge.core.policies",
    "LEVELS": "rankgauge.core.policies",
    "LINES": "rankgauge.figures.drawing",
    "ORANGE": "rankgauge.figures.drawing",
    "OUTPUT_FOLDER": "rankgauge.cli.output_files",
    "SAMPLE_NUMBERS": "rankgauge.core.policies",
    "SEAL": "rankgauge.core.sealing",
    "SEED": "rankgauge.core.policies",
    "SEEDS": "rankgauge.core.policies",
    "VERMILION": "rankgauge.figures.drawing",
    "Beside": "rankgauge.report.html",
    "Bools": "rankgauge.core.arrays",
    "Cell": "rankgauge.core.tables",
    "Choice": "rankgauge.core.checks",
    "Decimal": "rankgauge.cli.numbers",
    "Facts": "rankgauge.report.html",
    "Finding": "rankgauge.report.html",
    "Floats": "rankgauge.core.arrays",
    "Incomplete": "rankgauge.cli.output",
    "Ints": "rankgauge.core.arrays",
    "Item": "rankgauge.report.html",
    "Listing": "rankgauge.report.html",
    "Note": "rankgauge.core.notes",
    "Number": "rankgauge.core.checks",
    "OwnPath": "rankgauge.io.own_paths",
    "Page": "rankgauge.report.html",
    "Picture": "rankgauge.report.html",
    "Progress": "rankgauge.core.resampling",
    "Record": "rankgauge.core.records",
    "Result": "rankgauge.core.results",
    "Section": "rankgauge.report.html",
    "ShownTable": "rankgauge.report.html",
    "Table": "rankgauge.core.tables",
    "Text": "rankgauge.report.html",
    "Value": "rankgauge.core.records",
    "Whole": "rankgauge.core.checks",
    "WholeNumber": "rankgauge.cli.numbers",
    "check_pages": "rankgauge.report.html",
    "check_plotting": "rankgauge.figures.drawing",
    "check_seal": "rankgauge.core.sealing",
    "checked": "rankgauge.core.checks",
    "counted": "rankgauge.core.notes",
    "decimal": "rankgauge.cli.numbers",
    "digest": "rankgauge.core.seeds",
    "display_name": "rankgauge.io.files",
    "fail_if_incomplete": "rankgauge.cli.output",
    "json_bytes": "rankgauge.core.sealing",
    "level_option": "rankgauge.cli.options",
    "line_width": "rankgauge.cli.output",
    "make_folder": "rankgauge.cli.output_files",
    "notify": "rankgauge.cli.output",
    "one_of": "rankgauge.core.checks",
    "output_option": "rankgauge.cli.options",
    "plotting": "rankgauge.figures.drawing",
    "plugin_option": "rankgauge.cli.options",
    "progress": "rankgauge.cli.output",
    "read_bytes": "rankgauge.io.files",
    "read_json": "rankgauge.core.sealing",
    "read_object": "rankgauge.core.sealing",
    "read_sealed": "rankgauge.core.sealing",
    "register_command": "rankgauge.cli.commands",
    "remove_unfinished": "rankgauge.io.files",
    "rounded": "rankgauge.core.rounding",
    "samples_option": "rankgauge.cli.options",
    "save_figure": "rankgauge.figures.files",
    "seed_option": "rankgauge.cli.options",
    "show": "rankgauge.cli.output",
    "together": "rankgauge.cli.options",
    "unsealed": "rankgauge.core.sealing",
    "whole": "rankgauge.cli.numbers",
    "worded": "rankgauge.core.notes",
    "workers": "rankgauge.cli.workers",
    "workers_options": "rankgauge.cli.workers",
    "wrapped": "rankgauge.figures.drawing",
    "write_page": "rankgauge.report.html",
    "write_sealed": "rankgauge.core.sealing",
    "writing": "rankgauge.io.files",
}
if not TYPE_CHECKING:  # which would take any name for one of these
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
