"""How deep must one judge? Pools, two-phase estimates, forecasts of costly measures from cheap ones."""

from __future__ import annotations

from rankgauge.forecast.estimates import TwoPhase, two_phase
from rankgauge.forecast.plans import Plan, plan
from rankgauge.forecast.topic_choice import choose_topics

__all__ = ["Plan", "TwoPhase", "choose_topics", "plan", "two_phase"]
