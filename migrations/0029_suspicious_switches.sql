-- Answers that would switch off more than half of what they cover: nothing of them is written until several agree, or an
-- operator accepts it.

CREATE TABLE suspicious_switches (
  kind           text NOT NULL CHECK (kind IN ('stores', 'products')),
  -- The platform and the state, or the platform and the store's id: `dutchie/AZ`, `dutchie/17`.
  scope          text NOT NULL,
  seen_at        timestamptz NOT NULL DEFAULT now(),
  covered        integer NOT NULL,
  switched       integer NOT NULL,
  -- An operator: the next answer that says the same is believed.
  accepted_at    timestamptz,
  -- The stores that the answer concerns.
  dispensary_ids bigint[] NOT NULL,
  PRIMARY KEY (kind, scope, seen_at)
);

-- The word of the latest answer, where it is none that is known: the store keeps its last known state.
ALTER TABLE dutchie_discovery_locations ADD COLUMN unknown_status text;

ALTER TABLE quality_findings DROP CONSTRAINT quality_findings_kind_check;
ALTER TABLE quality_findings ADD CONSTRAINT quality_findings_kind_check
  CHECK (kind IN ('blind_store', 'halved_menu', 'empty_prices', 'unknown_keys', 'suspicious_switch', 'unknown_words'));
