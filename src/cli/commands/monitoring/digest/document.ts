import type { Finding } from "../../../../core/digest/out-of-line.ts";
import type { UsualSpending } from "../../../../core/digest/usual-spending.ts";
import { formatMoney } from "../../../../core/price/money.ts";
import { toFields } from "../../usage/document.ts";
import { toAmount } from "./dollars.ts";
import type { Digest } from "./read-digest.ts";
import { explainFindings } from "./render.ts";

/** Version of the document. It rises when a field is removed or changes its meaning. */
const DIGEST_VERSION = 1;

/** Returns the digest as a document for programs. Sums have the fields of `usage --json`. */
export function toDocument(digest: Digest): object {
  const { span, period, calendar, report, rows, usual, outOfLine, budgets } = digest;
  const words = explainFindings(digest);
  return {
    v: DIGEST_VERSION,
    span,
    since: new Date(period.since).toISOString(),
    until: period.until === null ? null : new Date(period.until).toISOString(),
    timeZone: calendar.zone,
    total: { ...toFields(report.total), usual: toUsual(usual) },
    rows: rows.map((row) => ({
      tool: row.names[0] ?? null,
      project: row.names[1] ?? null,
      ...toFields(row),
      usual: toUsual(row.usual),
    })),
    budgets,
    outOfLine: outOfLine.map((finding, index) => ({ ...toItem(finding), ...words[index] })),
    unreadableLines: report.skipped.count,
  };
}

function toUsual(usual: UsualSpending | null): object | null {
  if (usual === null) return null;
  const { spans, charged, worth, tokens, requests } = usual;
  return {
    spans,
    costUsd: formatMoney(toAmount(rounded(charged))),
    planWorthUsd: formatMoney(toAmount(rounded(worth))),
    tokens: rounded(tokens),
    requests,
  };
}

function toItem(finding: Finding): object {
  const { kind, tool, project, session, agent, hour, request, measure, amount, usual, times, mostly } =
    finding;
  return {
    kind,
    tool,
    project,
    day: finding.day,
    hour,
    session,
    agent,
    request,
    measure,
    amount: rounded(amount),
    usual: rounded(usual.median),
    times: rounded(times),
    comparedWith: usual.of,
    past: usual.count,
    mostly: mostly === null ? null : { kind: mostly.kind, share: rounded(mostly.share) },
  };
}

/** To three significant digits: medians and factors are not exact. */
function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
