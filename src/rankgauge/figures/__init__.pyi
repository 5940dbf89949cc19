from rankgauge.figures.planes import regions_figure as regions_figure
from rankgauge.figures.queries import (
    expected_histogram as expected_histogram,
    query_map as query_map,
)
from rankgauge.figures.space import objectives_figure as objectives_figure
from rankgauge.figures.studies import (
    attention_lines as attention_lines,
    depth_curves as depth_curves,
    ideal_lines as ideal_lines,
    order_sensitivity as order_sensitivity,
    power_curves as power_curves,
    relevant_lines as relevant_lines,
    token_matches as token_matches,
)
