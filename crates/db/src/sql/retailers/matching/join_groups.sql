-- retailers/matching/join_groups.sql: gives the stores of groups their retailers. $groups: the number of each store's group;
-- $retailers: the known retailer of its group, if it has one. A group without one becomes a retailer, unless it is a single store. A
-- store that has a retailer since keeps it.
WITH wanted AS MATERIALIZED (
  SELECT w.nth, w.store, w.retailer, d.name, d.state
    FROM unnest($groups::int[], $stores::bigint[], $retailers::bigint[]) AS w(nth, store, retailer)
    JOIN dispensaries d ON d.id = w.store
   WHERE d.retailer_id IS NULL
     AND (w.retailer IS NULL OR EXISTS (SELECT FROM retailers r WHERE r.id = w.retailer))
),
made AS MATERIALIZED (
  SELECT nth, nextval('retailers_id_seq') AS id,
         (array_agg(name ORDER BY store))[1] AS name,
         (array_agg(state ORDER BY store) FILTER (WHERE state IS NOT NULL))[1] AS state
    FROM wanted
   WHERE retailer IS NULL
   GROUP BY nth
  HAVING count(*) > 1
),
added AS (
  INSERT INTO retailers (id, name, state) SELECT id, name, state FROM made RETURNING id
),
joined AS (
  UPDATE dispensaries d
     SET retailer_id = coalesce(w.retailer, m.id), updated_at = now()
    FROM wanted w
    LEFT JOIN made m ON m.nth = w.nth
   WHERE d.id = w.store
     AND coalesce(w.retailer, m.id) IS NOT NULL
  RETURNING d.id
)
SELECT (SELECT count(*) FROM added) AS retailers, (SELECT count(*) FROM joined) AS stores;
