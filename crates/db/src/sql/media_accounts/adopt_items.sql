-- media_accounts/adopt_items.sql: an account shows items without an account. $1 account, $2 their sources, $3 their ids there
WITH adopted AS (
  UPDATE media_items i
     SET account_id = $1
    FROM unnest($2::text[], $3::text[]) AS shown (source, source_id)
   WHERE i.source = shown.source AND i.source_id = shown.source_id AND i.account_id IS NULL
  RETURNING i.id)
INSERT INTO media_account_items (account_id, item_id)
SELECT $1, id
  FROM adopted
    ON CONFLICT DO NOTHING
