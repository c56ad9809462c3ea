-- The conditions of a filter of stores, which other statements include; a null filters nothing. $1 state, $2 platform,
-- $3 group, $4 whether it is crawled, $5 the state of its crawls, $6 its id, the beginning of its slug, or part of its name or city
($1 IS NULL OR d.state = upper($1))
     AND ($2 IS NULL OR d.platform = $2)
     AND ($3 IS NULL OR $3 = ANY (d.groups))
     AND ($4 IS NULL OR d.crawl_enabled = $4)
     AND ($5 IS NULL OR d.id IN (SELECT s.dispensary_id FROM v_store_statuses s WHERE s.crawl_status = $5))
     AND ($6 IS NULL OR d.id::text = $6 OR starts_with(lower(d.slug), lower($6)) OR strpos(lower(d.name), lower($6)) > 0
          OR strpos(lower(d.city), lower($6)) > 0)
