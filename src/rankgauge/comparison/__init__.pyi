from rankgauge.comparison.assessed import MeasureAssessment as MeasureAssessment
from rankgauge.comparison.assessed import conflicts_of as conflicts_of
from rankgauge.comparison.assessment import AssessmentDesign as AssessmentDesign
from rankgauge.comparison.correlation import (
    concordance_of as concordance_of,
)
from rankgauge.comparison.correlation import (
    count_swapped_pairs as count_swapped_pairs,
)
from rankgauge.comparison.correlation import (
    rank_correlations as rank_correlations,
)
from rankgauge.comparison.correlation import (
    swap_rate_of as swap_rate_of,
)
