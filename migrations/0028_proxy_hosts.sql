-- The record of each proxy at each host: a host that a proxy does not reach says nothing of the proxy at other hosts.

CREATE TABLE proxy_hosts (
  proxy_id         bigint NOT NULL REFERENCES proxies ON DELETE CASCADE,
  host             text NOT NULL,
  -- Only requests that a crawl does without went there, such as images.
  is_best_effort   boolean NOT NULL,
  -- Its latest requests: older ones weigh less, so that the number stays bounded.
  recent_requests  double precision NOT NULL CHECK (recent_requests >= 0),
  recent_refused   double precision NOT NULL CHECK (recent_refused >= 0),
  recent_failed    double precision NOT NULL CHECK (recent_failed >= 0),
  updated_at       timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (proxy_id, host)
);

-- A bench at a host that only such requests led to: the proxy is healthy where the crawl uses it.
ALTER TABLE proxy_benches ADD COLUMN is_best_effort boolean NOT NULL DEFAULT false;
