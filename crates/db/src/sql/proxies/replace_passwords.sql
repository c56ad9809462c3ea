-- proxies/replace_passwords.sql: stores passwords $3 in another form for the proxies $1 that still hold $2.
WITH held AS (
  SELECT id FROM proxies WHERE id = ANY ($1::bigint[])
   ORDER BY id                 -- as flushes of counters lock them
     FOR NO KEY UPDATE
)
UPDATE proxies p
   SET password = n.stored, updated_at = now()
  FROM held
  JOIN unnest($1::bigint[], $2::text[], $3::text[]) AS n (id, before, stored) USING (id)
 WHERE p.id = held.id AND p.password = n.before;
