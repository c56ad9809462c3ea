-- Stores with faulty data: one row per store and kind of fault, while the fault lasts.
CREATE TABLE quality_findings (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  dispensary_id bigint NOT NULL REFERENCES dispensaries (id) ON DELETE CASCADE,
  kind          text NOT NULL CHECK (kind IN ('blind_store', 'halved_menu', 'empty_prices', 'unknown_keys')),
  detail        text NOT NULL,
  since         timestamptz NOT NULL DEFAULT now(),
  seen_at       timestamptz NOT NULL DEFAULT now(),
  UNIQUE (dispensary_id, kind)
);
