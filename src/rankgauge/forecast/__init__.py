"""How deep must one judge? Pools, two-phase estimates, and forecasts of costly measures from cheap ones."""
