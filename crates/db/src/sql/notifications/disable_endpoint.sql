-- notifications/disable_endpoint.sql: disables an endpoint, which a person may enable again. $1 endpoint, $2 reason
UPDATE notification_endpoints SET enabled = false, disabled_reason = $2, updated_at = now() WHERE id = $1 AND enabled
