-- Slugs that stores had before they were corrected or renamed: the import of an older list finds its stores by them.
CREATE TABLE former_slugs (
  slug          text NOT NULL,       -- in lower case
  dispensary_id bigint NOT NULL REFERENCES dispensaries (id) ON DELETE CASCADE,
  replaced_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (slug, dispensary_id)
);

CREATE INDEX former_slugs_dispensary ON former_slugs (dispensary_id, replaced_at);
