from rankgauge.rankings.alignment import judged_labels as judged_labels
from rankgauge.rankings.flips import Flips as Flips
from rankgauge.rankings.lists import JudgedLabels as JudgedLabels, Rankings as Rankings
