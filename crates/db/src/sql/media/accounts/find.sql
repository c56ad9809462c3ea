-- media/accounts/find.sql: an account for a scrape, by $1 id, or by $2 platform and $3 name. A scrape that was cut off has left files
-- that are newer than the last whole one. A file that failed is looked for again, five times at most.
SELECT id, platform, username, kind, url, credential_id, enabled,
       last_scraped_at IS NOT NULL
       AND NOT EXISTS (SELECT FROM media_items i
                        WHERE i.account_id = a.id AND i.kind = 'file' AND i.downloaded_at > a.last_scraped_at)
       AND NOT EXISTS (SELECT FROM media_shared_items s
                        WHERE s.account_id = a.id AND s.brought_at > a.last_scraped_at)
       AND NOT EXISTS (SELECT FROM media_items i
                        WHERE i.account_id = a.id AND i.kind = 'file' AND i.state = 'failed' AND i.attempts < 5) AS is_whole
  FROM media_accounts a
 WHERE id = $1 OR platform = $2 AND username = $3
