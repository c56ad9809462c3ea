-- The store's name or id in the URL of its menu, which each platform reads in its own way, and a table of found stores whose name fits
-- all platforms.

ALTER TABLE dispensaries ADD COLUMN menu_key text;
UPDATE dispensaries SET menu_key = menu_entry(menu_url) WHERE menu_url IS NOT NULL;
CREATE INDEX dispensaries_menu_key_lower ON dispensaries (lower(menu_key));

ALTER TABLE dutchie_discovery_locations RENAME TO found_stores;
ALTER INDEX idx_dutchie_discovery_locations_dispensary RENAME TO found_stores_dispensary;
ALTER TABLE found_stores ADD COLUMN menu_key text;

-- Processes of the release before write and read it under this name.
CREATE VIEW dutchie_discovery_locations AS SELECT * FROM found_stores;
