"""Building blocks of rankgauge's own commands, for authors of commands and studies.

- Results: `Record` and `Value` are base classes of objects with fields, `Result` is a result with a
  `Table` of `Cell`s and with `Note`s. A `Chart` is drawn beside a table, and a `ColumnNote` is printed
  with its columns. `check_value` checks an argument by its kind: `Integer`, `Number` or `Choice`.
- Commands: `register_command` registers a click command. `takes` passes records of options to a command,
  such as `Output`; an `OptionGroup` of your own declares its fields with `option` and `argument`, and
  `HeadedCommand` lists them under headings. `seed_option` and the like are options of rankgauge's own
  commands, to use as fields of groups or as decorators. `show` prints a table, `notify` prints notes,
  and `progress` shows a progress bar. `Incomplete` ends a command with exit code 3.
- Files: `atomic_write` never leaves a partial file behind, `OwnPath` follows no links below an output
  folder, and `write_sealed` writes JSON with a seal, which `read_sealed` checks.
- Figures and pages: `plotting` sets the style of figures, and `save_figure` writes the same bytes for
  the same figure. A `Page` is made of `Section`s, and `write_page` writes it as HTML.

Measures, metrics and rankers are in packages of their own.
"""

from rankgauge.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
