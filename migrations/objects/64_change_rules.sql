-- Notifications of changes. docs/changes.md explains them.

-- Notes that a rule has notified of these products, and returns those of which it may: it has not for `quiet_minutes`.
CREATE OR REPLACE FUNCTION note_changed_products(rule bigint, products bigint[]) RETURNS SETOF bigint LANGUAGE sql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off AS $f$
  INSERT INTO change_rule_products AS p (rule_id, product_id, notified_at)
  SELECT DISTINCT rule, c.id, clock_timestamp() FROM unnest(products) AS c(id)
      ON CONFLICT (rule_id, product_id) DO UPDATE SET notified_at = clock_timestamp()
   WHERE p.notified_at <= clock_timestamp() - make_interval(mins => (SELECT r.quiet_minutes FROM change_rules r WHERE r.id = rule))
  RETURNING p.product_id
$f$;

-- Writes notifications of a rule, in this order, and moves the rule on in the feed.
CREATE OR REPLACE FUNCTION notify_of_changes(rule bigint, until_seq bigint, until_n int, subjects text[], bodies jsonb[]) RETURNS void LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off AS $f$
DECLARE
  is_notified CONSTANT boolean := cardinality(subjects) > 0;
  endpoint bigint;
BEGIN
  UPDATE change_rules r SET seq = until_seq, n = until_n, digested_at = CASE WHEN is_notified THEN now() ELSE r.digested_at END
   WHERE r.id = rule
  RETURNING r.endpoint_id INTO endpoint;
  IF NOT is_notified OR endpoint IS NULL THEN RETURN; END IF;
  INSERT INTO notifications (endpoint_id, event, subject, body)
  SELECT endpoint, 'products.changed', m.subject, m.body
    FROM unnest(subjects, bodies) WITH ORDINALITY AS m(subject, body, nth)
   ORDER BY m.nth
  ON CONFLICT DO NOTHING;
  PERFORM make_notify_tasks(ARRAY[endpoint]);
END $f$;
