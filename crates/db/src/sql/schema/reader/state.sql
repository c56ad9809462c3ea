-- Whether this account may make roles, and whether the login $1 exists, and reads drover_v1 already.
SELECT me.rolsuper OR me.rolcreaterole AS may_make_roles,
       r.oid IS NOT NULL AS exists,
       EXISTS (SELECT FROM pg_auth_members m
                 JOIN pg_roles g ON g.oid = m.roleid
                WHERE m.member = r.oid AND g.rolname = 'drover_reader') AS is_reader
  FROM pg_roles me
  LEFT JOIN pg_roles r ON r.rolname = $1
 WHERE me.rolname = current_user
