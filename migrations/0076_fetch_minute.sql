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
