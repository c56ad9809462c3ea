-- Files whose account was removed: an account that is added again knows them.
CREATE INDEX CONCURRENTLY IF NOT EXISTS media_items_ownerless ON media_items (source, id)
 WHERE account_id IS NULL AND kind = 'file' AND state = 'downloaded'
