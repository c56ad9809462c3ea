-- Paths of files are relative to the storage root. The older system wrote its root, /storage, or a slash in front of them; programs and
-- restores that still do write what drover reads.

CREATE OR REPLACE FUNCTION relative_path(path text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $f$
  SELECT regexp_replace(path, '^/+(storage/+)?', '')
$f$;

CREATE OR REPLACE FUNCTION write_relative_image() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  NEW.local_image_path := relative_path(NEW.local_image_path);
  RETURN NEW;
END $f$;

CREATE OR REPLACE FUNCTION write_relative_payload() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  NEW.storage_path := relative_path(NEW.storage_path);
  RETURN NEW;
END $f$;
