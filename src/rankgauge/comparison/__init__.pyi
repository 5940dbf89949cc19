from rankgauge.comparison.assessed import (
    MeasureAssessment as MeasureAssessment,
    conflicts_of as conflicts_of,
)
from rankgauge.comparison.assessment import AssessmentDesign as AssessmentDesign
from rankgauge.comparison.correlation import (
    concordance_of as concordance_of,
    count_swapped_pairs as count_swapped_pairs,
    rank_correlations as rank_correlations,
    swap_rate_of as swap_rate_of,
)
