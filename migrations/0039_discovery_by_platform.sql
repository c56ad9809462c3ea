-- Ids of two platforms may be equal. An older process' survey fails while this is new, and is tried again.
ALTER TABLE dutchie_discovery_locations
  ADD COLUMN platform text NOT NULL DEFAULT 'dutchie',
  DROP CONSTRAINT dutchie_discovery_locations_pkey,
  ADD PRIMARY KEY (platform, platform_dispensary_id);

-- Why discovery switched the store off (not_open, vanished). A store that a person switches on again keeps it, and is left alone.
ALTER TABLE dispensaries ADD COLUMN disabled_reason text;
