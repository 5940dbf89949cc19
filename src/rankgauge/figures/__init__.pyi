from rankgauge.figures.planes import regions_figure as regions_figure
from rankgauge.figures.queries import (
    expected_histogram as expected_histogram,
)
from rankgauge.figures.queries import (
    query_map as query_map,
)
from rankgauge.figures.space import objectives_figure as objectives_figure
from rankgauge.figures.studies import (
    attention_lines as attention_lines,
)
from rankgauge.figures.studies import (
    depth_curves as depth_curves,
)
from rankgauge.figures.studies import (
    ideal_lines as ideal_lines,
)
from rankgauge.figures.studies import (
    order_sensitivity as order_sensitivity,
)
from rankgauge.figures.studies import (
    power_curves as power_curves,
)
from rankgauge.figures.studies import (
    relevant_lines as relevant_lines,
)
from rankgauge.figures.studies import (
    token_matches as token_matches,
)
