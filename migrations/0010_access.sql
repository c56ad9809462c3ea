-- Access to the API: tokens, logins of users by tokens, the changes that requests made, and stored answers for repeated requests. Tokens
-- and logins are stored as digests only.

-- A revoked token keeps its row: while this table has a row, no request without a token is answered.
CREATE TABLE api_tokens (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name         text NOT NULL CHECK (length(name) BETWEEN 1 AND 100),
  role         text NOT NULL CHECK (role IN ('consumer', 'viewer', 'operator', 'admin')),
  digest       text NOT NULL UNIQUE,
  created_at   timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  revoked_at   timestamptz
);
CREATE UNIQUE INDEX idx_api_tokens_name ON api_tokens (name) WHERE revoked_at IS NULL;

CREATE TABLE api_logins (
  digest     text PRIMARY KEY,
  token_id   bigint NOT NULL REFERENCES api_tokens,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX idx_api_logins_expires ON api_logins (expires_at);

-- The transaction that makes a change writes its row.
CREATE TABLE audit_log (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at         timestamptz NOT NULL DEFAULT now(),
  who        text NOT NULL,
  token_id   bigint,
  address    text,
  request_id text NOT NULL,
  action     text NOT NULL,
  target     text NOT NULL,
  detail     jsonb NOT NULL
);
CREATE INDEX idx_audit_log_who ON audit_log (who, id DESC);
CREATE INDEX idx_audit_log_action ON audit_log (action, id DESC);
CREATE INDEX idx_audit_log_at ON audit_log (at);

-- The answer to the request with this key, written by the transaction of the request; NULL only within that transaction.
CREATE TABLE idempotency_keys (
  who        text NOT NULL,
  key        text NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
  request    text NOT NULL,   -- digest of method, target and body
  status     int,
  location   text,
  body       jsonb,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (who, key)
);
CREATE INDEX idx_idempotency_keys_created ON idempotency_keys (created_at);
