from rankgauge.core.policies import (
    BROAD_LABEL as BROAD_LABEL,
    BROAD_SHARE as BROAD_SHARE,
    SET_SHARE as SET_SHARE,
    ChanceDifference as ChanceDifference,
    InformativeBy as InformativeBy,
)
from rankgauge.query_sets.by_chance import (
    TYPES as TYPES,
    ChanceComparison as ChanceComparison,
    QueryTypes as QueryTypes,
    compare_with_chance as compare_with_chance,
    easy as easy,
    hard as hard,
    ideal as ideal,
    informative as informative,
    query_types as query_types,
    uninformative as uninformative,
)
from rankgauge.query_sets.by_judgments import broad as broad, focused as focused
from rankgauge.query_sets.by_significance import (
    Significance as Significance,
    significance as significance,
)
from rankgauge.query_sets.model import (
    Exclusion as Exclusion,
    QuerySet as QuerySet,
    SelectionSize as SelectionSize,
)
from rankgauge.query_sets.samples import (
    document_splits as document_splits,
    query_sample as query_sample,
)
