-- payloads/needs_refetch.sql: whether a fetch shall replace a payload whose file is unreadable. Yes, if no
-- payload of its store is newer, no fetch waits already, and it does not come from such a fetch itself: on a
-- disk that keeps nothing that would never end. $1 payload
SELECT NOT EXISTS (SELECT
                     FROM raw_crawl_payloads newer
                    WHERE newer.dispensary_id = lost.dispensary_id
                      AND (newer.fetched_at, newer.id) > (lost.fetched_at, lost.id))
       AND NOT EXISTS (SELECT      -- none is ready or active: the store's reservation is the caller's
                         FROM worker_tasks waiting
                        WHERE waiting.dispensary_id = lost.dispensary_id
                          AND waiting.role IN ('payload_fetch', 'product_discovery')
                          AND waiting.status = 'pending' AND NOT waiting.ready AND NOT waiting.blocked)
       AND NOT EXISTS (SELECT
                         FROM worker_tasks fetched JOIN worker_tasks refresh ON refresh.id = fetched.parent_task_id
                        WHERE fetched.id = lost.task_id
                          AND refresh.role = 'product_refresh')
  FROM raw_crawl_payloads lost
 WHERE lost.id = $1;
