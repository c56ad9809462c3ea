-- Menus that a store had on other platforms: an import by a former id finds the store.
CREATE TABLE former_menus (
  platform               text NOT NULL,
  platform_dispensary_id text NOT NULL,
  dispensary_id          bigint NOT NULL REFERENCES dispensaries (id) ON DELETE CASCADE,
  replaced_at            timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (platform, platform_dispensary_id, dispensary_id)
);
CREATE INDEX former_menus_dispensary ON former_menus (dispensary_id, replaced_at);
