-- hosts/rotating_values/record_refusal.sql: records that an endpoint refused a value.
INSERT INTO rotating_values (platform, name, value, endpoint, last_refusal_at)
VALUES ($platform, $name, $value, $endpoint, now())
    ON CONFLICT (platform, name, value, endpoint) DO UPDATE SET last_refusal_at = now();
