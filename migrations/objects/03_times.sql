-- True if the time of a task has come, or if it has none.
CREATE OR REPLACE FUNCTION is_due(scheduled_for timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $f$
  SELECT scheduled_for IS NULL OR scheduled_for <= now()
$f$;

-- Limits a time to those that Rust and JSON can hold: rows may have infinite dates and years of six digits.
CREATE OR REPLACE FUNCTION json_time(t timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $f$
  SELECT CASE WHEN t IS NOT NULL THEN least(greatest(t, timestamptz '0001-01-01 00:00:00Z'), timestamptz '9999-12-31 23:59:59Z') END
$f$;

-- Begin and end of the current day in a timezone; of the day in UTC if the timezone is null or unknown to Postgres.
CREATE OR REPLACE FUNCTION day_in(timezone text, OUT began timestamptz, OUT ends timestamptz) LANGUAGE plpgsql STABLE AS $f$
DECLARE
  zone text := coalesce(timezone, 'UTC');
BEGIN
  began := date_trunc('day', now() AT TIME ZONE zone) AT TIME ZONE zone;
  ends := (date_trunc('day', now() AT TIME ZONE zone) + interval '1 day') AT TIME ZONE zone;
EXCEPTION WHEN invalid_parameter_value THEN
  began := date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC';
  ends := began + interval '1 day';
END
$f$;
