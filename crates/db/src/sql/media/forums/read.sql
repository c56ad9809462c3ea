-- media/forums/read.sql: forums, to read their threads. $1 those with these ids, or $2 the one of this name
SELECT id, name, kind, base_url, credential_id, selectors
  FROM forums
 WHERE id = ANY ($1) OR name = $2
