from rankgauge.comparison.assessed import Assessed as Assessed
from rankgauge.comparison.assessed import conflicts_of as conflicts_of
from rankgauge.comparison.assessment import Testing as Testing
from rankgauge.comparison.correlation import (
    concordance_of as concordance_of,
)
from rankgauge.comparison.correlation import (
    rank_correlations as rank_correlations,
)
from rankgauge.comparison.correlation import (
    swap_rate_of as swap_rate_of,
)
from rankgauge.comparison.correlation import (
    swapped_pairs as swapped_pairs,
)
