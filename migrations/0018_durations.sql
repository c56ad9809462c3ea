-- Distributions of the waits and runs of a minute, for percentiles: {"bucket": number}. Bucket b holds the seconds above
-- 0.001 * 2^((b - 1) / 4) up to 0.001 * 2^(b / 4), and bucket 0 all up to 0.001: four to a doubling, so that a percentile is at most 19 %
-- off, and the distributions of any minutes, roles and outcomes can be added. Null: counted before this migration.
ALTER TABLE stats_minute
  ADD COLUMN run_buckets jsonb,
  ADD COLUMN wait_buckets jsonb;
