-- The bucket of a duration, as 0018_durations.sql describes it and domain/duration_buckets.rs reads it.
CREATE OR REPLACE FUNCTION duration_bucket(seconds double precision) RETURNS int LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $f$
  SELECT least(greatest(ceil(4 * ln(greatest(seconds, 0.001) / 0.001) / ln(2) - 1e-9), 0), 200)::int
$f$;
