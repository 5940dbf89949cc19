from rankgauge.cli.commands import register_command as register_command
from rankgauge.cli.groups import (
    HeadedCommand as HeadedCommand,
    LazyGroup as LazyGroup,
    OptionGroup as OptionGroup,
    argument as argument,
    combine_options as combine_options,
    is_given as is_given,
    option as option,
    takes as takes,
)
from rankgauge.cli.learning_options import (
    SET_NUMBER as SET_NUMBER,
    by_option as by_option,
    set_share_option as set_share_option,
    set_size_options as set_size_options,
    setting_option as setting_option,
    training_queries_option as training_queries_option,
)
from rankgauge.cli.numbers import (
    Decimal as Decimal,
    WholeNumber as WholeNumber,
    parse_decimal as parse_decimal,
    parse_integer as parse_integer,
)
from rankgauge.cli.options import (
    Output as Output,
    depth_option as depth_option,
    encoder_option as encoder_option,
    folds_option as folds_option,
    level_option as level_option,
    margin_option as margin_option,
    method_option as method_option,
    method_plugin_option as method_plugin_option,
    output_option as output_option,
    plugin_option as plugin_option,
    preferences_option as preferences_option,
    queries_option as queries_option,
    repeats_option as repeats_option,
    samples_option as samples_option,
    seed_option as seed_option,
    significance_test_option as significance_test_option,
)
from rankgauge.cli.output import (
    Incomplete as Incomplete,
    fail_if_incomplete as fail_if_incomplete,
    line_width as line_width,
    notify as notify,
    progress as progress,
    show as show,
)
from rankgauge.cli.output_files import OUTPUT_FOLDER as OUTPUT_FOLDER, make_folder as make_folder
from rankgauge.cli.tracks import (
    TrackOptions as TrackOptions,
    feature_option as feature_option,
    learner_option as learner_option,
    read_tracks as read_tracks,
    target_option as target_option,
    track_options as track_options,
)
from rankgauge.cli.workers import workers as workers, workers_options as workers_options
from rankgauge.core.arrays import Bools as Bools, Floats as Floats, Ints as Ints
from rankgauge.core.charts import Chart as Chart
from rankgauge.core.checks import (
    Choice as Choice,
    Integer as Integer,
    Number as Number,
    check_value as check_value,
    one_of as one_of,
)
from rankgauge.core.notes import (
    Note as Note,
    count_phrase as count_phrase,
    note_texts as note_texts,
)
from rankgauge.core.policies import (
    LEVEL as LEVEL,
    LEVELS as LEVELS,
    SAMPLE_NUMBERS as SAMPLE_NUMBERS,
    SEED as SEED,
    SEEDS as SEEDS,
    Progress as Progress,
)
from rankgauge.core.records import Record as Record, Value as Value
from rankgauge.core.results import Result as Result
from rankgauge.core.rounding import round_values as round_values
from rankgauge.core.sealing import (
    SEAL as SEAL,
    check_seal as check_seal,
    json_bytes as json_bytes,
    missing_seal_note as missing_seal_note,
    read_json as read_json,
    read_object as read_object,
    read_sealed as read_sealed,
    write_sealed as write_sealed,
)
from rankgauge.core.seeds import digest as digest
from rankgauge.core.tables import Cell as Cell, ColumnNote as ColumnNote, Table as Table
from rankgauge.figures.drawing import (
    BLUE as BLUE,
    DASHED as DASHED,
    GRAY as GRAY,
    INK as INK,
    LINES as LINES,
    ORANGE as ORANGE,
    VERMILION as VERMILION,
    check_plotting as check_plotting,
    plotting as plotting,
    wrap_text as wrap_text,
)
from rankgauge.figures.files import save_figure as save_figure
from rankgauge.io.files import (
    atomic_write as atomic_write,
    display_name as display_name,
    read_bytes as read_bytes,
    remove_unfinished as remove_unfinished,
)
from rankgauge.io.own_paths import OwnPath as OwnPath
from rankgauge.report.section_pages import (
    Facts as Facts,
    Finding as Finding,
    Item as Item,
    Listing as Listing,
    Page as Page,
    Picture as Picture,
    Section as Section,
    ShownTable as ShownTable,
    SideBySide as SideBySide,
    Text as Text,
    check_pages as check_pages,
    write_page as write_page,
)
