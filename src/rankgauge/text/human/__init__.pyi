from rankgauge.text.human.correlation import human_correlation as human_correlation
from rankgauge.text.human.preferences import win_share as win_share
from rankgauge.text.human.ratings import NoRatingsError as NoRatingsError
from rankgauge.text.human.results import (
    Over as Over,
    percentage_increase as percentage_increase,
    percentiles as percentiles,
)
