-- media/accounts/adopt_items.sql: an account becomes the owner of the items that it shows and that have none; it shares the items that
-- another account took meanwhile. $1 account, $2 their sources, $3 their ids there
WITH shown AS MATERIALIZED (
  SELECT i.id, i.account_id
    FROM media_items i
    JOIN unnest($2::text[], $3::text[]) AS named (source, source_id) USING (source, source_id)
   ORDER BY i.source, i.source_id
     FOR UPDATE OF i),
owned AS (
  UPDATE media_items SET account_id = $1 WHERE id IN (SELECT id FROM shown WHERE account_id IS NULL))
INSERT INTO media_shared_items (account_id, item_id)
SELECT DISTINCT $1::bigint, id
  FROM shown
 WHERE account_id <> $1
    ON CONFLICT DO NOTHING
