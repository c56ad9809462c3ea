-- The items that an account shows: a tag of a board shares them with other tags, and each scrape has to know them. An item's own
-- account is the first that showed it.

CREATE TABLE media_account_items (
  account_id bigint NOT NULL REFERENCES media_accounts ON DELETE CASCADE,
  item_id    bigint NOT NULL REFERENCES media_items ON DELETE CASCADE,
  PRIMARY KEY (account_id, item_id)
);
CREATE INDEX media_account_items_item ON media_account_items (item_id);
INSERT INTO media_account_items (account_id, item_id) SELECT account_id, id FROM media_items WHERE account_id IS NOT NULL;

-- items of accounts that were removed: an account that is added again knows them
CREATE INDEX media_items_ownerless ON media_items (source, id) WHERE account_id IS NULL AND kind = 'file' AND state = 'downloaded';
