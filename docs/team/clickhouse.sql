-- Ledgers of many machines in ClickHouse 23.8 or later. Load a machine's files with, for example:
--   gzip -dcf 2026-11-*.ndjson* | clickhouse-client --query "INSERT INTO tollkeeper_lines (machine, line)
--     SELECT 'laptop-17', line FROM input('line String') FORMAT LineAsString"
-- Loading a file twice is harmless: a record replaces itself.

CREATE TABLE tollkeeper_lines
(
  machine LowCardinality(String),
  line String CODEC(ZSTD(3)),
  id String MATERIALIZED JSONExtractString(line, 'id'),
  ts DateTime64(3, 'UTC') MATERIALIZED parseDateTime64BestEffort(JSONExtractString(line, 'ts'), 3, 'UTC'),
  tool LowCardinality(String) MATERIALIZED JSONExtractString(line, 'tool'),
  upstream LowCardinality(String) MATERIALIZED JSONExtractString(line, 'upstream'),
  route LowCardinality(String) MATERIALIZED JSONExtractString(line, 'route'),
  method LowCardinality(String) MATERIALIZED JSONExtractString(line, 'method'),
  status Nullable(UInt16) MATERIALIZED JSONExtract(line, 'status', 'Nullable(UInt16)'),
  outcome LowCardinality(String) MATERIALIZED JSONExtractString(line, 'outcome'),
  error_type LowCardinality(String) MATERIALIZED JSONExtractString(line, 'error_type'),
  usage LowCardinality(String) MATERIALIZED JSONExtractString(line, 'usage'),
  spend LowCardinality(String) MATERIALIZED JSONExtractString(line, 'spend'),
  response_id String MATERIALIZED JSONExtractString(line, 'response_id'),
  model LowCardinality(String) MATERIALIZED
    if(JSONExtractString(line, 'model') = '', JSONExtractString(line, 'model_requested'), JSONExtractString(line, 'model')),
  stream Bool MATERIALIZED JSONExtractBool(line, 'stream'),
  has_tokens Bool MATERIALIZED JSONHas(line, 'tokens'),
  input UInt64 MATERIALIZED JSONExtractUInt(line, 'tokens', 'input_total'),
  cache_read UInt64 MATERIALIZED JSONExtractUInt(line, 'tokens', 'cache_read'),
  cache_write UInt64 MATERIALIZED JSONExtractUInt(line, 'tokens', 'cache_write'),
  output UInt64 MATERIALIZED JSONExtractUInt(line, 'tokens', 'output'),
  billed_usd Nullable(Decimal(38, 12)) MATERIALIZED toDecimal128OrNull(JSONExtractString(line, 'billed_usd'), 12),
  ttft_ms Nullable(Float64) MATERIALIZED JSONExtract(line, 'ttft_ms', 'Nullable(Float64)'),
  duration_ms Float64 MATERIALIZED JSONExtractFloat(line, 'duration_ms'),
  counted_as LowCardinality(String) MATERIALIZED multiIf(
    spend = 'never' AND (usage = 'none' OR has_tokens), 'free',
    spend != 'count' AND (method != 'POST' OR position(route, '{id}') > 0), 'fetch',
    NOT has_tokens AND (outcome = 'rejected' OR (outcome = 'error' AND status >= 300)), 'failed',
    'request')
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(ts)
ORDER BY (machine, ts, id);

-- Tokens per day, machine, tool and model. FINAL leaves out records that were loaded twice.
SELECT toDate(ts) AS day, machine, tool, model, count() AS requests, sum(input) AS input, sum(cache_read) AS cached,
  sum(output) AS output, countIf(NOT has_tokens) AS unknown
FROM tollkeeper_lines FINAL
WHERE counted_as = 'request' AND upstream != 'sandbox'
GROUP BY day, machine, tool, model ORDER BY day DESC, input DESC;
