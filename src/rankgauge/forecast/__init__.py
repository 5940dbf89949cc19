"""How deep must one judge? Pools, two-phase estimates, forecasts of costly measures from cheap ones."""
