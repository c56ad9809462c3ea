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
