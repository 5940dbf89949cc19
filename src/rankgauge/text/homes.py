"""Our metrics and their modules, in the order in which they are listed."""

HOMES = {
    "rouge1": "rouge",
    "rouge2": "rouge",
    "rougeL": "rouge",
    "rougeLsum": "rouge",
    "rougeW": "rouge",
    "rougeS": "rouge",
    "bertscore": "bert_metric",
    "expected": "normalization",
    "v1": "normalization",
    "v2": "normalization",
    "linear": "normalization",
    "z": "normalization",
}
