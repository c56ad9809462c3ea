-- stores/add_unless_known.sql: adds stores by hand or from a list, one array per column; known ones change
-- only their groups. Results are in the order of the list.
SELECT store_id AS id, is_known, is_grouped, is_full, former_slug, slug
  FROM add_stores($names, $platforms, $platform_ids, $slugs, $menu_urls, $api_hosts, $api_paths, $cities, $states, $timezones, $groups,
                  $menu_keys);
