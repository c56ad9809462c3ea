-- Health of proxies: the record that it is judged by, and the benches at single hosts, so that every process shows the same.

ALTER TABLE proxies
  -- Requests since the last answer through it, whoever is to blame: also where all proxies fail and none is blamed.
  ADD COLUMN consecutive_failure_count bigint NOT NULL DEFAULT 0,
  -- Its latest requests: older ones weigh less, so that the number stays bounded.
  ADD COLUMN recent_requests double precision NOT NULL DEFAULT 0 CHECK (recent_requests >= 0),
  ADD COLUMN recent_refused  double precision NOT NULL DEFAULT 0 CHECK (recent_refused >= 0),
  ADD COLUMN recent_failed   double precision NOT NULL DEFAULT 0 CHECK (recent_failed >= 0);

-- A proxy that was used before this migration is not untested. Its counts of a lifetime become at most 100 requests.
UPDATE proxies p
   SET recent_requests = n.requests * n.scale,
       recent_refused = p.consecutive_403_count * n.scale,
       recent_failed = p.failure_count * n.scale
  FROM (SELECT id, requests, least(1, 100.0 / requests) AS scale
          FROM (SELECT id, success_count + failure_count + consecutive_403_count AS requests FROM proxies) c
         WHERE requests > 0) n
 WHERE n.id = p.id;

-- Benches at one host; one everywhere is proxies.cooldown_until. A row whose time is over means nothing.
CREATE TABLE proxy_benches (
  proxy_id  bigint NOT NULL REFERENCES proxies ON DELETE CASCADE,
  host      text NOT NULL,
  until     timestamptz NOT NULL CHECK (isfinite(until) AND until < '10000-01-01Z'),
  reason    text NOT NULL,
  PRIMARY KEY (proxy_id, host)
);
