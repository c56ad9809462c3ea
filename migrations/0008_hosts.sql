-- Hosts: the shared knowledge of all processes about each host that they send requests to, and what may be sent to it now.
--
-- The rules are in `domain/host`: a process locks a row, adds its observations, and stores the resulting state.

CREATE TABLE hosts (
  host             text PRIMARY KEY,
  -- The breaker: closed · open until probe_at · half_open, with one probe under way, which counts as lost at probe_at.
  breaker          text NOT NULL DEFAULT 'closed' CHECK (breaker IN ('closed', 'open', 'half_open')),
  breaker_since    timestamptz NOT NULL DEFAULT now() CHECK (isfinite(breaker_since)),
  refuses_since    timestamptz CHECK (isfinite(refuses_since)),
  probe_at         timestamptz CHECK (isfinite(probe_at)),
  probe            bigint NOT NULL DEFAULT 0,
  opens_in_a_row   integer NOT NULL DEFAULT 0 CHECK (opens_in_a_row >= 0),
  why              text,
  -- The hold that a host demands by 429, or by 503 with Retry-After.
  hold_until       timestamptz CHECK (isfinite(hold_until)),
  hold_status      integer CHECK (hold_status BETWEEN 100 AND 999),
  holds_in_a_row   integer NOT NULL DEFAULT 0 CHECK (holds_in_a_row >= 0),
  -- Requests per second of all processes together, 0 = no limit; the usual time until an answer.
  rate             double precision NOT NULL DEFAULT 0,
  configured_rate  double precision NOT NULL DEFAULT 0,
  rate_changed_at  timestamptz CHECK (isfinite(rate_changed_at)),
  latency_ms       double precision,
  -- Recent answers, refusals and failures (5xx), which weigh less as they grow older.
  window_at        timestamptz CHECK (isfinite(window_at)),
  window_answers   double precision NOT NULL DEFAULT 0,
  window_refusals  double precision NOT NULL DEFAULT 0,
  window_failures  double precision NOT NULL DEFAULT 0,
  -- Time of the first refusal that still counts.
  window_refused_since timestamptz CHECK (isfinite(window_refused_since)),
  -- Totals since the row was made.
  answers          bigint NOT NULL DEFAULT 0,
  refusals         bigint NOT NULL DEFAULT 0,
  failures         bigint NOT NULL DEFAULT 0,
  throttles        bigint NOT NULL DEFAULT 0,
  -- The processes that share the rate, and when each was last heard of.
  processes        jsonb NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50);      -- every process that uses the host updates the row every few seconds; no updated column is indexed

-- robots.txt: the answer of each host, and the rules that our requests break.
--
-- The tables are separate from `hosts`: its rows are read and written as a whole every few seconds, and a file may have 500 KiB.

CREATE TABLE robots (
  -- The host, with the port if that is not the default of the scheme.
  authority          text PRIMARY KEY,
  host               text NOT NULL,
  -- The file as it was at fetched_at; null if there was none. fetched_at is null until the host has answered once.
  rules              text,
  fetched_at         timestamptz CHECK (isfinite(fetched_at)),
  -- Time since which the host has not answered; `why` is its latest failure.
  unreachable_since  timestamptz CHECK (isfinite(unreachable_since)),
  why                text,
  next_fetch_at      timestamptz NOT NULL DEFAULT now() CHECK (isfinite(next_fetch_at)),
  -- Until then, one process is fetching the file.
  fetching_until     timestamptz CHECK (isfinite(fetching_until))
);

CREATE TABLE robots_breaches (
  authority    text NOT NULL REFERENCES robots ON DELETE CASCADE,
  -- The rule as written in the file, and the path that was last reported for breaking it.
  rule         text NOT NULL,
  path         text NOT NULL,
  reported_at  timestamptz NOT NULL DEFAULT now() CHECK (isfinite(reported_at)),
  PRIMARY KEY (authority, rule)
);

-- Query hashes: the persisted queries that each platform has been seen to accept. Filled from the configuration when empty.

CREATE TABLE query_hashes (
  platform       text NOT NULL,
  operation      text NOT NULL,
  hash           text NOT NULL,
  -- % = known for every endpoint; otherwise the endpoint (host/path) that refused the hash at last_not_found: shards do not change at the
  -- same time.
  host_pattern   text NOT NULL DEFAULT '%',
  added_at       timestamptz NOT NULL DEFAULT now(),
  first_ok       timestamptz,
  last_ok        timestamptz,
  last_not_found timestamptz,
  PRIMARY KEY (platform, operation, hash, host_pattern)
);
