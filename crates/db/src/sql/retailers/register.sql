-- retailers/register.sql: adds or corrects licences of a state's register. Returns how many are new, and how many have changed.
WITH wanted AS (
  SELECT * FROM unnest($licences::text[], $names::text[], $addresses::text[], $cities::text[], $zips::text[])
                AS r(licence, name, address, city, zip)
), written AS (
  INSERT INTO licence_register AS known (state, licence, name, address, city, zip)
  SELECT $state, licence, name, address, city, zip FROM wanted
      ON CONFLICT (state, licence) DO UPDATE
     SET name = excluded.name, address = excluded.address, city = excluded.city, zip = excluded.zip, imported_at = now()
   WHERE (known.name, known.address, known.city, known.zip) IS DISTINCT FROM
         (excluded.name, excluded.address, excluded.city, excluded.zip)
  RETURNING xmax = 0 AS is_new
)
SELECT count(*) FILTER (WHERE is_new) AS added, count(*) FILTER (WHERE NOT is_new) AS changed FROM written;
