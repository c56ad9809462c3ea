-- robots.txt: what each host answered to it, and which of its rules our requests break.
--
-- Tables of their own: the row of `hosts` is read and written whole every few seconds, and a file may have 500 KiB.

CREATE TABLE robots (
  -- The host, and the port where it is not the scheme's own.
  authority          text PRIMARY KEY,
  host               text NOT NULL,
  -- The file as it was at fetched_at; null where there was none. Fetched_at is null until the host has answered once.
  rules              text,
  fetched_at         timestamptz CHECK (isfinite(fetched_at)),
  -- Since it has not answered any more, and what it did instead.
  unreachable_since  timestamptz CHECK (isfinite(unreachable_since)),
  why                text,
  next_fetch_at      timestamptz NOT NULL DEFAULT now() CHECK (isfinite(next_fetch_at)),
  -- One process fetches it until then.
  fetching_until     timestamptz CHECK (isfinite(fetching_until))
);

CREATE TABLE robots_breaches (
  authority    text NOT NULL REFERENCES robots ON DELETE CASCADE,
  -- As the file has it, and the path that was asked last against it.
  rule         text NOT NULL,
  path         text NOT NULL,
  reported_at  timestamptz NOT NULL DEFAULT now() CHECK (isfinite(reported_at)),
  PRIMARY KEY (authority, rule)
);
