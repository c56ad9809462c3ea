-- Hosts: what all processes together know of each host that they ask, and what may be sent to it now.
--
-- The rules are `domain/host`: a process locks a row, adds what it saw, and stores the state that follows.

CREATE TABLE hosts (
  host             text PRIMARY KEY,
  -- The breaker: closed · open until probe_at · half_open, with one probe under way that counts as lost at probe_at.
  breaker          text NOT NULL DEFAULT 'closed' CHECK (breaker IN ('closed', 'open', 'half_open')),
  breaker_since    timestamptz NOT NULL DEFAULT now() CHECK (isfinite(breaker_since)),
  refuses_since    timestamptz CHECK (isfinite(refuses_since)),
  probe_at         timestamptz CHECK (isfinite(probe_at)),
  probe            bigint NOT NULL DEFAULT 0,
  opens_in_a_row   integer NOT NULL DEFAULT 0 CHECK (opens_in_a_row >= 0),
  why              text,
  -- The hold: 429, or 503 with Retry-After.
  hold_until       timestamptz CHECK (isfinite(hold_until)),
  hold_status      integer CHECK (hold_status BETWEEN 100 AND 999),
  holds_in_a_row   integer NOT NULL DEFAULT 0 CHECK (holds_in_a_row >= 0),
  -- Requests a second of all processes together, 0 = no limit; the usual time of an answer.
  rate             double precision NOT NULL DEFAULT 0,
  configured_rate  double precision NOT NULL DEFAULT 0,
  rate_changed_at  timestamptz CHECK (isfinite(rate_changed_at)),
  latency_ms       double precision,
  -- Answers and refusals of late, weighing less as they grow older.
  window_at        timestamptz CHECK (isfinite(window_at)),
  window_answers   double precision NOT NULL DEFAULT 0,
  window_refusals  double precision NOT NULL DEFAULT 0,
  -- Since the row was made.
  answers          bigint NOT NULL DEFAULT 0,
  refusals         bigint NOT NULL DEFAULT 0,
  throttles        bigint NOT NULL DEFAULT 0,
  -- Who shares the rate, and when each was last heard of.
  processes        jsonb NOT NULL DEFAULT '{}'
) WITH (fillfactor = 50);      -- every process that asks the host writes its row every few seconds; nothing of it is indexed
