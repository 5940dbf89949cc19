"""Our metrics and their modules, in the order in which they are listed."""

HOMES = {
    "rouge1": "metrics.rouge",
    "rouge2": "metrics.rouge",
    "rougeL": "metrics.rouge",
    "rougeLsum": "metrics.rouge",
    "rougeW": "metrics.rouge",
    "rougeS": "metrics.rouge",
    "bertscore": "metrics.bertscore",
    "expected": "normalization",
    "v1": "normalization",
    "v2": "normalization",
    "linear": "normalization",
    "z": "normalization",
}
