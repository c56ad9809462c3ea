-- access/api_tokens/exists.sql: whether a token was ever made, revoked ones included.
SELECT EXISTS (SELECT FROM api_tokens);
