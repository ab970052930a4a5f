import type { Attributes, HistogramValue, Metric, Point } from "./metric.ts";

/**
 * `text`: Prometheus' format 0.0.4 (https://prometheus.io/docs/instrumenting/exposition_formats/). `openmetrics`: OpenMetrics 1.0
 * (https://prometheus.io/docs/specs/om/open_metrics_spec/).
 */
export type TextFormat = "text" | "openmetrics";

/** What a response says that it is. */
export const CONTENT_TYPES: Readonly<Record<TextFormat, string>> = {
  text: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

/** Returns the format that an `Accept` header wants. Prometheus offers both, and prefers OpenMetrics. */
export function chooseFormat(accept: string | undefined): TextFormat {
  return /\bapplication\/openmetrics-text\b/i.test(accept ?? "") ? "openmetrics" : "text";
}

/** Units that are in a metric's name (https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/). */
const UNITS: Readonly<Partial<Record<Metric["unit"], string>>> = { s: "seconds", By: "bytes" };

/** Returns a metric's name in Prometheus, without `_total` and the like. */
export function prometheusName({ name, unit }: Pick<Metric, "name" | "unit">): string {
  const word = UNITS[unit];
  const base = toIdentifier(name);
  return word === undefined || base.endsWith(`_${word}`) ? base : `${base}_${word}`;
}

/** Yields the metrics as text, a few lines at a time. A metric without points is left out. */
export function* writeMetrics(metrics: readonly Metric[], format: TextFormat): Generator<string> {
  const labels = new LabelWriter();
  for (const metric of metrics) {
    const family = prometheusName(metric);
    let header: string | null = headerOf(metric, family, format);
    for (const point of metric.points) {
      const lines = linesOf(family, metric.kind, point, labels);
      yield header === null ? lines : header + lines;
      header = null;
    }
  }
  if (format === "openmetrics") yield "# EOF\n";
}

/** In OpenMetrics a family is named without the suffix of its samples; in the older format, with that of a counter. */
function headerOf({ kind, unit, help }: Metric, family: string, format: TextFormat): string {
  if (format === "text") {
    const name = family + suffixOf(kind);
    const type = kind === "info" ? "gauge" : kind;
    return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
  }
  const word = UNITS[unit];
  const unitLine = word === undefined ? "" : `# UNIT ${family} ${word}\n`;
  return `# TYPE ${family} ${kind}\n${unitLine}# HELP ${family} ${escapeText(help)}\n`;
}

function suffixOf(kind: Metric["kind"]): string {
  if (kind === "counter") return "_total";
  return kind === "info" ? "_info" : "";
}

function linesOf(
  family: string,
  kind: Metric["kind"],
  { attributes, more, value }: Point,
  labels: LabelWriter,
) {
  const own = labels.write(attributes, more);
  if (typeof value !== "object")
    return `${family}${suffixOf(kind)}${own === "" ? "" : `{${own}}`} ${value}\n`;
  return histogramLines(family, own, value);
}

function histogramLines(family: string, own: string, { bounds, counts, count, sum }: HistogramValue): string {
  const before = own === "" ? "" : `${own},`;
  let lines = "";
  let total = 0;
  for (const [at, bound] of bounds.entries()) {
    total += counts[at] ?? 0;
    lines += `${family}_bucket{${before}le="${formatBound(bound)}"} ${total}\n`;
  }
  lines += `${family}_bucket{${before}le="+Inf"} ${count}\n`;
  const braces = own === "" ? "" : `{${own}}`;
  return `${lines}${family}_sum${braces} ${sum}\n${family}_count${braces} ${count}\n`;
}

/** OpenMetrics wants `1.0` where other numbers are written `1`, so that bounds are the same text in both formats. */
function formatBound(bound: number): string {
  return Number.isInteger(bound) ? `${bound}.0` : String(bound);
}

/** Writes attributes as labels. Those of a series are written once, though many metrics have them. */
class LabelWriter {
  readonly #written = new Map<Attributes, string>();

  write(attributes: Attributes, more: Attributes | undefined): string {
    const own = this.#written.get(attributes) ?? writeLabels(attributes);
    this.#written.set(attributes, own);
    if (more === undefined) return own;
    return own === "" ? writeLabels(more) : `${own},${writeLabels(more)}`;
  }
}

function writeLabels(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([name, value]) => `${toIdentifier(name)}="${escapeText(value)}"`)
    .join(",");
}

function toIdentifier(name: string): string {
  return name.replaceAll(/[^a-zA-Z0-9_]/g, "_");
}

const SPECIAL = /[\\"\n]/g;

/** Escapes the three characters that both formats give a meaning in a label. */
function escapeText(text: string): string {
  return text.replaceAll(SPECIAL, (char) => (char === "\n" ? String.raw`\n` : `\\${char}`));
}

/** In the older format a quotation mark is itself in a help text. */
function escapeHelp(text: string): string {
  return text.replaceAll(/[\\\n]/g, (char) => (char === "\n" ? String.raw`\n` : `\\${char}`));
}
