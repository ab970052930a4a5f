-- Tokens by machine and model.
SELECT machine, model, sum(input) AS input, sum(cache_read) AS cached, sum(output) AS output
FROM used GROUP BY ALL ORDER BY input DESC;

-- Requests, and how reliable their token counts are.
SELECT machine, count(*) AS requests, count_if(usage = 'partial') AS partial, count_if(tokens IS NULL) AS unknown
FROM requests GROUP BY ALL ORDER BY requests DESC;

-- Which models each tool uses, week by week.
SELECT date_trunc('week', ts) AS week, tool, model, count(DISTINCT machine) AS machines, sum(input + output) AS tokens
FROM used GROUP BY ALL ORDER BY week DESC, tokens DESC;

-- Charges that services reported themselves.
SELECT upstream, date_trunc('day', ts) AS day, sum(billed_usd) AS usd
FROM requests WHERE billed_usd IS NOT NULL GROUP BY ALL ORDER BY day DESC;

-- Errors of upstreams, and requests that tollkeeper refused.
SELECT upstream, outcome, status, error_type, count(*) AS requests, count(DISTINCT machine) AS machines
FROM records WHERE outcome IN ('error', 'failed', 'rejected') GROUP BY ALL ORDER BY requests DESC;

-- Time to the first token of streams.
SELECT model, quantile_cont(ttft_ms, 0.5) AS p50, quantile_cont(ttft_ms, 0.95) AS p95, count(*) AS streams
FROM requests WHERE stream GROUP BY ALL ORDER BY streams DESC;
