-- An operator has confirmed that the store sells nothing: its empty menu is kept at once. The next menu with products ends it.
ALTER TABLE dispensaries ADD COLUMN empty_accepted_at timestamptz;
