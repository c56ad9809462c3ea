-- The conditions of a filter of stores, which other statements include; a null filters nothing. $q: a store's id, the
-- beginning of its slug, or part of its name or city
($state::text IS NULL OR d.state = upper($state))
     AND ($platform::text IS NULL OR d.platform = $platform)
     AND ($group::text IS NULL OR $group = ANY (d.groups))
     AND ($crawl_enabled::bool IS NULL OR d.crawl_enabled = $crawl_enabled)
     AND ($crawl_status::text IS NULL OR d.id IN (SELECT s.dispensary_id FROM v_store_statuses s WHERE s.crawl_status = $crawl_status))
     AND ($q::text IS NULL OR d.id::text = $q OR starts_with(lower(d.slug), lower($q)) OR strpos(lower(d.name), lower($q)) > 0
          OR strpos(lower(d.city), lower($q)) > 0)
