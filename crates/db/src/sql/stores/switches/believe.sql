-- stores/switches/believe.sql: whether a suspicious answer is believed: an operator accepted it, or it is the third in a row, hours
-- apart. Otherwise it is noted.
WITH earlier AS (
  SELECT count(*) AS answers, max(seen_at) AS latest, coalesce(bool_or(accepted_at IS NOT NULL), false) AS is_accepted
    FROM suspicious_switches
   WHERE kind = $kind AND scope = $scope
),
judged AS (
  SELECT coalesce(latest <= now() - interval '2 hours', true) AS is_apart,
         is_accepted OR (answers >= 2 AND latest <= now() - interval '2 hours') AS is_believed
    FROM earlier
),
forgotten AS (
  DELETE FROM suspicious_switches WHERE kind = $kind AND scope = $scope AND (SELECT is_believed FROM judged)
),
noted AS (
  INSERT INTO suspicious_switches (kind, scope, covered, switched, dispensary_ids)
  SELECT $kind, $scope, $covered, $switched, $stores FROM judged WHERE is_apart AND NOT is_believed
      ON CONFLICT DO NOTHING
)
SELECT is_believed FROM judged;
