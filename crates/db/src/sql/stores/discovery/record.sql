-- stores/discovery/record.sql: stores everything that a discovery run saw, valid or not. One array per column. $found_in: the
-- states in which the stores were seen. $unknown_statuses: words that are not known; such a store keeps the reason that
-- it had
INSERT INTO found_stores
       (platform_dispensary_id, name, slug, menu_url, menu_key, api_host, address, city, state, zip, latitude, longitude, phone,
        timezone, is_recreational, is_medical, licences, website, email, status, found_in, reason, unknown_status, platform)
SELECT s.id, s.name, s.slug, s.menu_url, s.menu_key, s.api_host, s.address, s.city, s.state, s.zip, s.latitude, s.longitude, s.phone,
       s.timezone, s.is_recreational, s.is_medical, coalesce(string_to_array(s.licences, E'\n'), '{}'), s.website, s.email, s.status, s.found_in,
       s.reason, s.unknown_status, $platform::text
  FROM unnest($ids::text[], $names::text[], $slugs::text[], $menu_urls::text[], $menu_keys::text[], $api_hosts::text[],
              $addresses::text[], $cities::text[], $states::text[], $zips::text[], $latitudes::float8[], $longitudes::float8[], $phones::text[], $timezones::text[],
              $is_recreational::bool[], $is_medical::bool[], $licences::text[], $websites::text[], $emails::text[],
              $statuses::text[], $found_in::text[], $reasons::text[], $unknown_statuses::text[])
         AS s(id, name, slug, menu_url, menu_key, api_host, address, city, state, zip, latitude, longitude, phone, timezone,
              is_recreational, is_medical, licences, website, email, status, found_in, reason, unknown_status)
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
       licences = excluded.licences,
       website = excluded.website,
       email = excluded.email,
       status = excluded.status,
       found_in = excluded.found_in,
       reason = CASE WHEN excluded.reason = 'unknown_status' THEN found_stores.reason ELSE excluded.reason END,
       unknown_status = excluded.unknown_status,
       last_seen_at = now(),
       vanished_at = NULL;
