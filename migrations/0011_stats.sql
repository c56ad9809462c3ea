-- Ended runs per minute. One process at a time counts them from their rows, so that no chart counts rows of the busy task table. Counts
-- stay when tasks are pruned.

CREATE TABLE stats_minute (
  minute       timestamptz NOT NULL,
  role         text NOT NULL,
  outcome      text NOT NULL,
  tasks        bigint NOT NULL,             -- runs with this outcome, and tasks that were cancelled before any run
  waits        bigint NOT NULL,             -- of these, the runs that were both the first and the last of their task
  wait_seconds double precision NOT NULL,   -- sum over `waits`, from when the task was due until it was claimed
  runs         bigint NOT NULL,
  run_seconds  double precision NOT NULL,
  products     bigint NOT NULL,             -- in the refreshed menus
  PRIMARY KEY (minute, role, outcome)
);

-- Counts of minutes before `closed_until` are final; later minutes are counted again at each turn.
CREATE TABLE stats_progress (
  id           boolean PRIMARY KEY DEFAULT true CHECK (id),
  closed_until timestamptz NOT NULL CHECK (isfinite(closed_until))
);

-- Requests to hosts per minute. Each process counts its own, and writes the totals of a minute repeatedly while they grow.

CREATE TABLE fetch_minute (
  minute         timestamptz NOT NULL,
  process        bigint NOT NULL,     -- a random number
  host           text NOT NULL,
  proxy_id       bigint NOT NULL,     -- no foreign key: the costs of a proxy stay known after its deletion
  outcome        text NOT NULL,
  requests       bigint NOT NULL,
  bytes_sent     bigint NOT NULL,     -- on the connection to the proxy, as the proxy counts them
  bytes_received bigint NOT NULL,
  seconds        double precision NOT NULL,
  PRIMARY KEY (minute, process, host, proxy_id, outcome)
);

-- Requests to hosts per store and day (UTC). Each process counts its own, and writes the totals of a day repeatedly while they grow.

CREATE TABLE fetch_store_day (
  day            date NOT NULL,
  dispensary_id  bigint NOT NULL,     -- 0 = no store; no foreign key: the costs of a store stay known after its deletion
  process        bigint NOT NULL,     -- a random number
  requests       bigint NOT NULL,
  bytes_sent     bigint NOT NULL,     -- on the connection to the proxy, as the proxy counts them
  bytes_received bigint NOT NULL,
  PRIMARY KEY (day, dispensary_id, process)
);

-- Number of consumers' requests by origin and hour; addresses are not stored. Country and region are empty if the origin is unknown.
CREATE TABLE visitor_hours (
  hour     timestamptz NOT NULL,
  country  text NOT NULL,
  region   text NOT NULL,
  requests bigint NOT NULL,
  PRIMARY KEY (hour, country, region)
);
