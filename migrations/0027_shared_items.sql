-- Items that an account shows and another account owns: tags of a board share them, and a scrape of each has to know them.

CREATE TABLE media_shared_items (
  account_id bigint NOT NULL REFERENCES media_accounts ON DELETE CASCADE,
  item_id    bigint NOT NULL REFERENCES media_items ON DELETE CASCADE,
  brought_at timestamptz NOT NULL DEFAULT now(),   -- by a scrape of this account
  PRIMARY KEY (account_id, item_id)
);
CREATE INDEX media_shared_items_item ON media_shared_items (item_id);
