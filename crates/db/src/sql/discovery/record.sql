-- discovery/record.sql: stores everything that a discovery run saw, valid or not. One array per column, $17
-- the state in which a store was seen, $19 platform, $20 status words that are not known: such a store keeps the reason
-- that it had
INSERT INTO dutchie_discovery_locations
       (platform_dispensary_id, name, slug, menu_url, api_host, address, city, state, zip, latitude, longitude, phone, timezone,
        is_recreational, is_medical, status, found_in, reason, unknown_status, platform)
SELECT *, $19::text
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
              $10::float8[], $11::float8[], $12::text[], $13::text[], $14::bool[], $15::bool[], $16::text[], $17::text[], $18::text[], $20::text[])
    ON CONFLICT (platform, platform_dispensary_id) DO UPDATE
   SET name = excluded.name,
       slug = excluded.slug,
       menu_url = excluded.menu_url,
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
       reason = CASE WHEN excluded.reason = 'unknown_status' THEN dutchie_discovery_locations.reason ELSE excluded.reason END,
       unknown_status = excluded.unknown_status,
       last_seen_at = now(),
       vanished_at = NULL;
