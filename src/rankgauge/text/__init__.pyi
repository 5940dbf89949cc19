# ruff: noqa: I001
from rankgauge.text.base import Metric as Metric
from rankgauge.text.chance import (
    CANDIDATE as CANDIDATE,
    DISSIMILAR as DISSIMILAR,
    Null as Null,
    SENTENCES as SENTENCES,
    SIMILAR as SIMILAR,
    TOKENS as TOKENS,
    register_null as register_null,
)
from rankgauge.text.checking import check_metric as check_metric
from rankgauge.text.data.files import read_texts as read_texts
from rankgauge.text.data.texts import Texts as Texts
from rankgauge.text.documents import (
    DocumentKinds as DocumentKinds,
    HETEROGENEOUS as HETEROGENEOUS,
    HOMOGENEOUS as HOMOGENEOUS,
    document_kinds as document_kinds,
)
from rankgauge.text.evaluation import (
    TextOverview as TextOverview,
    evaluate as evaluate,
    overview as overview,
    scores_of_candidates as scores_of_candidates,
)
from rankgauge.text.grammar import parse_metric as parse_metric
from rankgauge.text.human.agreement import (
    PairAgreement as PairAgreement,
    pair_agreement as pair_agreement,
)
from rankgauge.text.human.correlation import human_correlation as human_correlation
from rankgauge.text.human.pairwise import (
    PairwisePreferences as PairwisePreferences,
    read_preferences as read_preferences,
)
from rankgauge.text.human.preferences import (
    Preferences as Preferences,
    win_lose_tie as win_lose_tie,
)
from rankgauge.text.human.ratings import Ratings as Ratings, read_ratings as read_ratings
from rankgauge.text.human.results import (
    CorrelationDifference as CorrelationDifference,
    HumanCorrelation as HumanCorrelation,
)
from rankgauge.text.metrics.embedding import use_encoder as use_encoder
from rankgauge.text.metrics.functions import metric as metric
from rankgauge.text.registry import entries as entries, register as register
from rankgauge.text.tokens import words_of as words_of

# Registered under these names, in the order in which they are listed:
from rankgauge.text.metrics.rouge import (
    rouge1 as rouge1,
    rouge2 as rouge2,
    rougeL as rougeL,
    rougeLsum as rougeLsum,
    rougeW as rougeW,
    rougeS as rougeS,
)
from rankgauge.text.metrics.bertscore import bertscore as bertscore
from rankgauge.text.normalization import (
    expected as expected,
    v1 as v1,
    v2 as v2,
    linear as linear,
    z as z,
)
