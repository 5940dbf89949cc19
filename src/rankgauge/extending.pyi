from rankgauge.cli.commands import register_command as register_command
from rankgauge.cli.groups import (
    HeadedCommand as HeadedCommand,
)
from rankgauge.cli.groups import (
    LazyGroup as LazyGroup,
)
from rankgauge.cli.groups import (
    OptionGroup as OptionGroup,
)
from rankgauge.cli.groups import (
    argument as argument,
)
from rankgauge.cli.groups import (
    combine_options as combine_options,
)
from rankgauge.cli.groups import (
    is_given as is_given,
)
from rankgauge.cli.groups import (
    option as option,
)
from rankgauge.cli.groups import (
    takes as takes,
)
from rankgauge.cli.learning_options import (
    SET_NUMBER as SET_NUMBER,
)
from rankgauge.cli.learning_options import (
    by_option as by_option,
)
from rankgauge.cli.learning_options import (
    set_share_option as set_share_option,
)
from rankgauge.cli.learning_options import (
    set_size_options as set_size_options,
)
from rankgauge.cli.learning_options import (
    setting_option as setting_option,
)
from rankgauge.cli.learning_options import (
    training_queries_option as training_queries_option,
)
from rankgauge.cli.numbers import (
    Decimal as Decimal,
)
from rankgauge.cli.numbers import (
    WholeNumber as WholeNumber,
)
from rankgauge.cli.numbers import (
    parse_decimal as parse_decimal,
)
from rankgauge.cli.numbers import (
    parse_integer as parse_integer,
)
from rankgauge.cli.options import (
    Output as Output,
)
from rankgauge.cli.options import (
    depth_option as depth_option,
)
from rankgauge.cli.options import (
    encoder_option as encoder_option,
)
from rankgauge.cli.options import (
    folds_option as folds_option,
)
from rankgauge.cli.options import (
    level_option as level_option,
)
from rankgauge.cli.options import (
    margin_option as margin_option,
)
from rankgauge.cli.options import (
    method_option as method_option,
)
from rankgauge.cli.options import (
    method_plugin_option as method_plugin_option,
)
from rankgauge.cli.options import (
    output_option as output_option,
)
from rankgauge.cli.options import (
    plugin_option as plugin_option,
)
from rankgauge.cli.options import (
    preferences_option as preferences_option,
)
from rankgauge.cli.options import (
    queries_option as queries_option,
)
from rankgauge.cli.options import (
    repeats_option as repeats_option,
)
from rankgauge.cli.options import (
    samples_option as samples_option,
)
from rankgauge.cli.options import (
    seed_option as seed_option,
)
from rankgauge.cli.options import (
    significance_test_option as significance_test_option,
)
from rankgauge.cli.output import (
    Incomplete as Incomplete,
)
from rankgauge.cli.output import (
    fail_if_incomplete as fail_if_incomplete,
)
from rankgauge.cli.output import (
    line_width as line_width,
)
from rankgauge.cli.output import (
    notify as notify,
)
from rankgauge.cli.output import (
    progress as progress,
)
from rankgauge.cli.output import (
    show as show,
)
from rankgauge.cli.output_files import OUTPUT_FOLDER as OUTPUT_FOLDER
from rankgauge.cli.output_files import make_folder as make_folder
from rankgauge.cli.tracks import (
    TrackOptions as TrackOptions,
)
from rankgauge.cli.tracks import (
    feature_option as feature_option,
)
from rankgauge.cli.tracks import (
    learner_option as learner_option,
)
from rankgauge.cli.tracks import (
    read_tracks as read_tracks,
)
from rankgauge.cli.tracks import (
    target_option as target_option,
)
from rankgauge.cli.tracks import (
    track_options as track_options,
)
from rankgauge.cli.workers import workers as workers
from rankgauge.cli.workers import workers_options as workers_options
from rankgauge.core.arrays import Bools as Bools
from rankgauge.core.arrays import Floats as Floats
from rankgauge.core.arrays import Ints as Ints
from rankgauge.core.checks import (
    Choice as Choice,
)
from rankgauge.core.checks import (
    Integer as Integer,
)
from rankgauge.core.checks import (
    Number as Number,
)
from rankgauge.core.checks import (
    check_value as check_value,
)
from rankgauge.core.checks import (
    one_of as one_of,
)
from rankgauge.core.notes import Note as Note
from rankgauge.core.notes import count_phrase as count_phrase
from rankgauge.core.notes import note_texts as note_texts
from rankgauge.core.policies import (
    LEVEL as LEVEL,
)
from rankgauge.core.policies import (
    LEVELS as LEVELS,
)
from rankgauge.core.policies import (
    SAMPLE_NUMBERS as SAMPLE_NUMBERS,
)
from rankgauge.core.policies import (
    SEED as SEED,
)
from rankgauge.core.policies import (
    SEEDS as SEEDS,
)
from rankgauge.core.records import Record as Record
from rankgauge.core.records import Value as Value
from rankgauge.core.resampling import Progress as Progress
from rankgauge.core.results import Result as Result
from rankgauge.core.rounding import round_values as round_values
from rankgauge.core.sealing import (
    SEAL as SEAL,
)
from rankgauge.core.sealing import (
    check_seal as check_seal,
)
from rankgauge.core.sealing import (
    json_bytes as json_bytes,
)
from rankgauge.core.sealing import (
    missing_seal_note as missing_seal_note,
)
from rankgauge.core.sealing import (
    read_json as read_json,
)
from rankgauge.core.sealing import (
    read_object as read_object,
)
from rankgauge.core.sealing import (
    read_sealed as read_sealed,
)
from rankgauge.core.sealing import (
    write_sealed as write_sealed,
)
from rankgauge.core.seeds import digest as digest
from rankgauge.core.tables import Cell as Cell
from rankgauge.core.tables import Table as Table
from rankgauge.figures.drawing import (
    BLUE as BLUE,
)
from rankgauge.figures.drawing import (
    DASHED as DASHED,
)
from rankgauge.figures.drawing import (
    GRAY as GRAY,
)
from rankgauge.figures.drawing import (
    INK as INK,
)
from rankgauge.figures.drawing import (
    LINES as LINES,
)
from rankgauge.figures.drawing import (
    ORANGE as ORANGE,
)
from rankgauge.figures.drawing import (
    VERMILION as VERMILION,
)
from rankgauge.figures.drawing import (
    check_plotting as check_plotting,
)
from rankgauge.figures.drawing import (
    plotting as plotting,
)
from rankgauge.figures.drawing import (
    wrap_text as wrap_text,
)
from rankgauge.figures.files import save_figure as save_figure
from rankgauge.io.files import (
    atomic_write as atomic_write,
)
from rankgauge.io.files import (
    display_name as display_name,
)
from rankgauge.io.files import (
    read_bytes as read_bytes,
)
from rankgauge.io.files import (
    remove_unfinished as remove_unfinished,
)
from rankgauge.io.own_paths import OwnPath as OwnPath
from rankgauge.report.pages import (
    Facts as Facts,
)
from rankgauge.report.pages import (
    Finding as Finding,
)
from rankgauge.report.pages import (
    Item as Item,
)
from rankgauge.report.pages import (
    Listing as Listing,
)
from rankgauge.report.pages import (
    Page as Page,
)
from rankgauge.report.pages import (
    Picture as Picture,
)
from rankgauge.report.pages import (
    Section as Section,
)
from rankgauge.report.pages import (
    ShownTable as ShownTable,
)
from rankgauge.report.pages import (
    SideBySide as SideBySide,
)
from rankgauge.report.pages import (
    Text as Text,
)
from rankgauge.report.pages import (
    check_pages as check_pages,
)
from rankgauge.report.pages import (
    write_page as write_page,
)
