-- media/forums/credential.sql: what a forum's credential is for, if it has one; platform: another than the forum's name. $1 id of the forum
SELECT CASE WHEN c.platform <> f.name THEN c.platform END AS platform,
       CASE f.kind WHEN 'discourse' THEN c.kind IN ('api_key', 'token') ELSE c.kind = 'cookies' END AS is_usable
  FROM forums f
  JOIN credentials c ON c.id = f.credential_id
 WHERE f.id = $1
