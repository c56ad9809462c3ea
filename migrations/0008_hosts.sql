-- Hosts: what all processes together know of each host that they ask, and what may be sent to it now.
--
-- The rules are `domain/host`: a process locks a row, adds what it saw, and stores the state that follows.

CREATE TABLE hosts (
  host             text PRIMARY KEY,
  -- The breaker: closed · open until probe_at · half_open, with one probe under way that counts as lost at probe_at.
  breaker          text NOT NULL DEFAULT 'closed' CHECK (breaker IN ('closed', 'open', 'half_open')),
  breaker_since    timestamptz NOT NULL DEFAULT now() CHECK (isfinite(breaker_since)),
  refuses_since    timestamptz CHECK (isfinite(refuses_since)),
  probe_at         timestamptz CHECK (isfinite(probe_at)),
  probe            bigint NOT NULL DEFAULT 0,
  opens_in_a_row   integer NOT NULL DEFAULT 0 CHECK (opens_in_a_row >= 0),
  why              text,
  -- The hold: 429, or 503 with Retry-After.
  hold_until       timestamptz CHECK (isfinite(hold_until)),
  hold_status      integer CHECK (hold_status BETWEEN 100 AND 999),
  holds_in_a_row   integer NOT NULL DEFAULT 0 CHECK (holds_in_a_row >= 0),
  -- Requests a second of all processes together, 0 = no limit; the usual time of an answer.
  rate             double precision NOT NULL DEFAULT 0,
  configured_rate  double precision NOT NULL DEFAULT 0,
  rate_changed_at  timestamptz CHECK (isfinite(rate_changed_at)),
  latency_ms       double precision,
  -- Answers, refusals and failures (5xx) of late, weighing less as they grow older.
  window_at        timestamptz CHECK (isfinite(window_at)),
  window_answers   double precision NOT NULL DEFAULT 0,
  window_refusals  double precision NOT NULL DEFAULT 0,
  window_failures  double precision NOT NULL DEFAULT 0,
  -- The first of the refusals that still count.
  window_refused_since timestamptz CHECK (isfinite(window_refused_since)),
  -- Since the row was made.
  answers          bigint NOT NULL DEFAULT 0,
  refusals         bigint NOT NULL DEFAULT 0,
  failures         bigint NOT NULL DEFAULT 0,
  throttles        bigint NOT NULL DEFAULT 0,
  -- Who shares the rate, and when each was last heard of.
  processes        jsonb NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50);      -- every process that asks the host writes its row every few seconds; nothing of it is indexed

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

-- Query hashes: which persisted queries each platform has been seen to accept. Filled from the configuration when empty.

CREATE TABLE query_hashes (
  platform       text NOT NULL,
  operation      text NOT NULL,
  hash           text NOT NULL,
  -- % = known anywhere; else the endpoint (host/path) that refused it at last_not_found: shards do not change at once.
  host_pattern   text NOT NULL DEFAULT '%',
  added_at       timestamptz NOT NULL DEFAULT now(),
  first_ok       timestamptz,
  last_ok        timestamptz,
  last_not_found timestamptz,
  PRIMARY KEY (platform, operation, hash, host_pattern)
);
