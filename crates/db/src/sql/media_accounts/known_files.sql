-- media_accounts/known_files.sql: files of an account that are downloaded. $1 account, $2 before this id. At most $3
SELECT id, source, source_id
  FROM media_items
 WHERE account_id = $1 AND id < $2 AND kind = 'file' AND state = 'downloaded'
 ORDER BY id DESC
 LIMIT $3
