SELECT version,
       name,
       checksum,
       least(greatest(applied_at, '0001-01-01Z'), '9999-12-31Z') AS applied_at   -- json_time may not exist yet
  FROM schema_migrations
 ORDER BY version
