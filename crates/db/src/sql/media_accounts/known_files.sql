-- media_accounts/known_files.sql: downloaded files that an account shows, and those of its site whose account was removed: it may be
-- this one, added again. $1 account, or NULL, $2 names of its site as a source, $3 before this id. At most $4
(SELECT i.id, i.source, i.source_id, false AS is_ownerless
   FROM media_account_items shown
   JOIN media_items i ON i.id = shown.item_id
  WHERE shown.account_id = $1 AND shown.item_id < $3 AND i.kind = 'file' AND i.state = 'downloaded'
  ORDER BY shown.item_id DESC
  LIMIT $4)
 UNION
(SELECT id, source, source_id, true
   FROM media_items
  WHERE account_id IS NULL AND source = ANY ($2) AND id < $3 AND kind = 'file' AND state = 'downloaded'
  ORDER BY id DESC
  LIMIT $4)
 ORDER BY id DESC
 LIMIT $4
