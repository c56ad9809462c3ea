-- stores/discovery/record.sql: stores everything that a discovery run saw, valid or not. One array per column. $found_in: the
-- states in which the stores were seen. $unknown_statuses: words that are not known; such a store keeps the reason that
-- it had
INSERT INTO found_stores
       (platform_dispensary_id, name, slug, menu_url, menu_key, api_host, address, city, state, zip, latitude, longitude, phone,
        timezone, is_recreational, is_medical, status, found_in, reason, unknown_status, platform)
SELECT *, $platform::text
  FROM unnest($ids::text[], $names::text[], $slugs::text[], $menu_urls::text[], $menu_keys::text[], $api_hosts::text[],
              $addresses::text[], $cities::text[], $states::text[], $zips::text[], $latitudes::float8[], $longitudes::float8[], $phones::text[], $timezones::text[],
              $is_recreational::bool[], $is_medical::bool[], $statuses::text[], $found_in::text[],
              $reasons::text[], $unknown_statuses::text[])
    ON CONFLICT (platform, platform_dispensary_id) DO UPDATE
   SET name = excluded.name,
       slug = excluded.slug,
       menu_url = excluded.menu_url,
       menu_key = excluded.menu_key,
       api_host = excluded.api_host,
       address = excluded.address,
       city = excluded.city,
       state = excluded.state,
       zip = excluded.zip,
       latitude = excluded.latitude,
       longitude = excluded.longitude,
       phone = excluded.phone,
       timezone = excluded.timezone,
       is_recreational = excluded.is_recreational,
       is_medical = excluded.is_medical,
       status = excluded.status,
       found_in = excluded.found_in,
       reason = CASE WHEN excluded.reason = 'unknown_status' THEN found_stores.reason ELSE excluded.reason END,
       unknown_status = excluded.unknown_status,
       last_seen_at = now(),
       vanished_at = NULL;
