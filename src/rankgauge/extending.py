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

from rankgauge.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
