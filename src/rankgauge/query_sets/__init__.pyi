from rankgauge.core.policies import (
    BROAD_LABEL as BROAD_LABEL,
)
from rankgauge.core.policies import (
    BROAD_SHARE as BROAD_SHARE,
)
from rankgauge.core.policies import (
    SET_SHARE as SET_SHARE,
)
from rankgauge.core.policies import (
    ChanceDifference as ChanceDifference,
)
from rankgauge.core.policies import (
    InformativeBy as InformativeBy,
)
from rankgauge.query_sets.by_chance import (
    TYPES as TYPES,
)
from rankgauge.query_sets.by_chance import (
    ChanceComparison as ChanceComparison,
)
from rankgauge.query_sets.by_chance import (
    QueryTypes as QueryTypes,
)
from rankgauge.query_sets.by_chance import (
    compare_with_chance as compare_with_chance,
)
from rankgauge.query_sets.by_chance import (
    easy as easy,
)
from rankgauge.query_sets.by_chance import (
    hard as hard,
)
from rankgauge.query_sets.by_chance import (
    ideal as ideal,
)
from rankgauge.query_sets.by_chance import (
    informative as informative,
)
from rankgauge.query_sets.by_chance import (
    query_types as query_types,
)
from rankgauge.query_sets.by_chance import (
    uninformative as uninformative,
)
from rankgauge.query_sets.by_judgments import broad as broad
from rankgauge.query_sets.by_judgments import focused as focused
from rankgauge.query_sets.by_significance import (
    Significance as Significance,
)
from rankgauge.query_sets.by_significance import (
    significance as significance,
)
from rankgauge.query_sets.model import Exclusion as Exclusion
from rankgauge.query_sets.model import QuerySet as QuerySet
from rankgauge.query_sets.model import SelectionSize as SelectionSize
from rankgauge.query_sets.samples import (
    document_splits as document_splits,
)
from rankgauge.query_sets.samples import (
    query_sample as query_sample,
)
