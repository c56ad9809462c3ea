-- fetched_at is database time from now on. A time that a worker's wall clock put into the future would freeze its store until then:
-- such a row gets the time at which it was written.
UPDATE raw_crawl_payloads
   SET fetched_at = created_at
 WHERE fetched_at > created_at + interval '1 minute';

UPDATE dispensaries d
   SET last_payload_at = least(d.last_payload_at, coalesce(p.created_at, now())),
       last_complete_at = least(d.last_complete_at, coalesce(p.created_at, now()))
  FROM dispensaries s
  LEFT JOIN raw_crawl_payloads p ON p.id = s.last_payload_id
 WHERE d.id = s.id
   AND greatest(d.last_payload_at, d.last_complete_at) > coalesce(p.created_at, now()) + interval '1 minute';
