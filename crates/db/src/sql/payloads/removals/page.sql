-- payloads/removals/page.sql: files to remove. $1 after this path, $2 at most
SELECT storage_path
  FROM payload_removals
 WHERE storage_path > $1
 ORDER BY storage_path
 LIMIT $2;
