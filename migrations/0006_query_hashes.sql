-- Query hashes: which persisted queries each platform has been seen to accept. Filled from the configuration when empty.

CREATE TABLE query_hashes (
  platform       text NOT NULL,
  operation      text NOT NULL,
  hash           text NOT NULL,
  -- A host, or % for all of them.
  host_pattern   text NOT NULL DEFAULT '%',
  added_at       timestamptz NOT NULL DEFAULT now(),
  first_ok       timestamptz,
  last_ok        timestamptz,
  last_not_found timestamptz,
  PRIMARY KEY (platform, operation, hash, host_pattern)
);
