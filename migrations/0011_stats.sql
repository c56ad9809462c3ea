-- Runs that ended, by minute: counted from their rows by one process at a time, so that no chart counts in the hot table. Counts stay
-- when tasks are pruned.

CREATE TABLE stats_minute (
  minute       timestamptz NOT NULL,
  role         text NOT NULL,
  outcome      text NOT NULL,
  tasks        bigint NOT NULL,             -- runs that ended so, and tasks that were cancelled before any
  waits        bigint NOT NULL,             -- of these, the runs that were the first of their task and its last
  wait_seconds double precision NOT NULL,   -- theirs together, from when the task was due until it was claimed
  runs         bigint NOT NULL,
  run_seconds  double precision NOT NULL,
  products     bigint NOT NULL,             -- in the menus that were refreshed
  PRIMARY KEY (minute, role, outcome)
);

-- Minutes before `closed_until` are counted for good; later ones are counted again at each turn.
CREATE TABLE stats_progress (
  id           boolean PRIMARY KEY DEFAULT true CHECK (id),
  closed_until timestamptz NOT NULL CHECK (isfinite(closed_until))
);

-- Requests to hosts, by minute: each process counts its own, and writes the totals of a minute over and over while they grow.

CREATE TABLE fetch_minute (
  minute         timestamptz NOT NULL,
  process        bigint NOT NULL,     -- a random number
  host           text NOT NULL,
  proxy_id       bigint NOT NULL,     -- no foreign key: what a proxy cost is known after it has gone
  outcome        text NOT NULL,
  requests       bigint NOT NULL,
  bytes_sent     bigint NOT NULL,     -- on the connection to the proxy, as the proxy counts them
  bytes_received bigint NOT NULL,
  seconds        double precision NOT NULL,
  PRIMARY KEY (minute, process, host, proxy_id, outcome)
);

-- Requests to hosts, by store and day (UTC): each process counts its own, and writes the totals of a day over and over while they grow.

CREATE TABLE fetch_store_day (
  day            date NOT NULL,
  dispensary_id  bigint NOT NULL,     -- 0: of no store; no foreign key: what a store cost is known after it has gone
  process        bigint NOT NULL,     -- a random number
  requests       bigint NOT NULL,
  bytes_sent     bigint NOT NULL,     -- on the connection to the proxy, as the proxy counts them
  bytes_received bigint NOT NULL,
  PRIMARY KEY (day, dispensary_id, process)
);

-- How many requests consumers made, by where they came from and hour: no addresses. Of an unknown place country and region are empty.
CREATE TABLE visitor_hours (
  hour     timestamptz NOT NULL,
  country  text NOT NULL,
  region   text NOT NULL,
  requests bigint NOT NULL,
  PRIMARY KEY (hour, country, region)
);
