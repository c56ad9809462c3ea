-- stores/discovery/close.sql: disables these stores. $1 stores, $2 reasons
UPDATE dispensaries d
   SET crawl_enabled = false, disabled_reason = c.reason, needs_baseline = true, updated_at = now()
  FROM unnest($1::bigint[], $2::text[]) AS c(id, reason)
 WHERE d.id = c.id;
