-- Stores by what the address of their menu names, so that an import of many addresses does not compare each with each.

-- The slug or id of a store in the address of its menu; null for an address of another form.
CREATE FUNCTION menu_entry(menu_url text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $f$
  SELECT regexp_replace(substring(menu_url FROM '/(?:dispensary|embedded-menu|stores)/([^/?#]+)'), '\.js$', '')
$f$;

CREATE INDEX dispensaries_menu_entry ON dispensaries (menu_entry(menu_url));
