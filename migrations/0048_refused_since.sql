-- Since when a host refuses requests, while its breaker is still closed: the first of the refusals that still count.
ALTER TABLE hosts ADD COLUMN window_refused_since timestamptz CHECK (isfinite(window_refused_since));
