-- Ledgers of many machines in DuckDB. Copy each machine's ledger directory to ledgers/MACHINE/, for example with rsync, then run:
--   duckdb -init duckdb.sql
-- Every column has its type, because lines leave out what is null.

CREATE OR REPLACE VIEW lines AS
SELECT *, regexp_extract(filename, '([^/]+)/[^/]+$', 1) AS machine
FROM read_ndjson('ledgers/*/[0-9]*.ndjson*',
  filename = true, ignore_errors = true,
  columns = {
    v: 'INTEGER', id: 'VARCHAR', ts: 'TIMESTAMP', tool: 'VARCHAR', tool_by: 'VARCHAR', session: 'VARCHAR',
    user_agent: 'VARCHAR', project: 'VARCHAR', branch: 'VARCHAR', key: 'VARCHAR', upstream: 'VARCHAR',
    route: 'VARCHAR', method: 'VARCHAR', status: 'INTEGER', model_requested: 'VARCHAR', alias: 'VARCHAR',
    stream: 'BOOLEAN', outcome: 'VARCHAR', stop: 'VARCHAR', error_type: 'VARCHAR', usage: 'VARCHAR', spend: 'VARCHAR',
    response_id: 'VARCHAR', model: 'VARCHAR', service_tier: 'VARCHAR', speed: 'VARCHAR', inference_geo: 'VARCHAR',
    tokens: 'STRUCT(input_uncached BIGINT, cache_read BIGINT, cache_write BIGINT, input_total BIGINT, output BIGINT,
                    reasoning BIGINT, total BIGINT)',
    extra: 'STRUCT("type" VARCHAR, model VARCHAR, billable BOOLEAN, input_uncached BIGINT, cache_read BIGINT,
                   cache_write BIGINT, output BIGINT)[]',
    billed_usd: 'DECIMAL(38, 12)', flags: 'VARCHAR[]', attempt_of: 'VARCHAR', cut_by: 'VARCHAR',
    ttft_ms: 'DOUBLE', duration_ms: 'DOUBLE', bytes_in: 'BIGINT', bytes_out: 'BIGINT'
  });

-- Each record once, with how `tollkeeper usage` counts it. The sandbox is left out: its tokens are made up.
CREATE OR REPLACE VIEW records AS
SELECT *,
  CASE
    WHEN spend = 'never' AND (usage = 'none' OR tokens IS NOT NULL) THEN 'free'
    WHEN spend <> 'count' AND (method <> 'POST' OR contains(route, '{id}')) THEN 'fetch'
    WHEN tokens IS NULL AND (outcome = 'rejected' OR (outcome = 'error' AND status >= 300)) THEN 'failed'
    ELSE 'request'
  END AS counted_as
FROM lines
WHERE upstream <> 'sandbox'
QUALIFY row_number() OVER (PARTITION BY machine, id ORDER BY ts) = 1;

-- Requests that count. A background response has the usage that a later fetch returned.
CREATE OR REPLACE VIEW requests AS
SELECT r.* EXCLUDE (tokens, extra, usage, model),
  coalesce(f.tokens, r.tokens) AS tokens,
  coalesce(f.extra, r.extra) AS extra,
  coalesce(f.usage, r.usage) AS usage,
  coalesce(f.model, r.model, r.model_requested) AS model
FROM records r
LEFT JOIN (
  SELECT machine, response_id, last(tokens ORDER BY ts) AS tokens, last(extra ORDER BY ts) AS extra,
    last(usage ORDER BY ts) AS usage, last(model ORDER BY ts) AS model
  FROM records WHERE counted_as = 'fetch' AND usage = 'final' AND response_id IS NOT NULL GROUP BY ALL
) f ON f.machine = r.machine AND f.response_id = r.response_id
  AND r.spend = 'attach_by_response_id' AND r.usage <> 'final'
WHERE r.counted_as = 'request';

-- The tokens of each request, and the extra ones that are certainly billed, each with its model.
CREATE OR REPLACE VIEW used AS
SELECT machine, ts, tool, upstream, project, model, tokens.input_total AS input, tokens.cache_read AS cache_read,
  tokens.cache_write AS cache_write, tokens.output AS output
FROM requests WHERE tokens IS NOT NULL
UNION ALL
SELECT machine, ts, tool, upstream, project, coalesce(set.model, model),
  set.input_uncached + set.cache_read + set.cache_write, set.cache_read, set.cache_write, set.output
FROM (SELECT *, unnest(extra) AS set FROM requests) WHERE set.billable;
