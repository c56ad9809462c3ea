-- media/accounts/note_scrape.sql: writes how a scrape ended. $1 id, $2 it was whole, $3 why it failed
UPDATE media_accounts
   SET last_scraped_at = CASE WHEN $2 THEN now() ELSE last_scraped_at END, last_error = $3, updated_at = now()
 WHERE id = $1
