import type { Mutant } from "./mutant.ts";

const E3 = { row: "E3", test: "test/faults/e3-log-injection.test.ts" };
const E5 = { row: "E5", test: "test/faults/e5-unrecorded-spending.test.ts" };
const E6 = { row: "E6", test: "test/faults/e6-private-content.test.ts" };

const PASSAGE = "src/proxy/exchange/round-trip.ts";
const REPORT = "src/cli/commands/usage/report.ts";
const FIELDS = "src/core/usage/fields.ts";

/** E3, E5 and E6: what records say, and do not say. */
export const CONTENT: readonly Mutant[] = [
  {
    ...E3,
    without: "escapes in the ledger beyond those of JSON",
    file: "src/adapters/ledger-file.ts",
    find: "printable(JSON.stringify(boundRecord(record)))",
    replace: "JSON.stringify(boundRecord(record))",
  },
  {
    ...E3,
    without: "escapes in the log beyond those of JSON",
    file: "src/adapters/log/line-form.ts",
    find: "printable(line.trimEnd())",
    replace: "line.trimEnd()",
  },
  {
    ...E3,
    without: "C1 controls among what is escaped",
    file: "src/core/text/printable.ts",
    find: String.raw`[\p{Cc}`,
    replace: String.raw`[\x00-\x1f`,
  },
  {
    ...E3,
    without: "bidirectional marks among what is escaped",
    file: "src/core/text/printable.ts",
    find: String.raw`\p{Bidi_Control}`,
    replace: "",
  },
  {
    ...E3,
    without: "the cap of texts",
    file: "src/core/ledger/bound-record.ts",
    find: "const TEXT_CHARACTERS = 256;",
    replace: "const TEXT_CHARACTERS = 1_000_000;",
  },
  {
    ...E3,
    without: "the cap of the user agent",
    file: "src/core/ledger/bound-record.ts",
    find: "const USER_AGENT_CHARACTERS = 512;",
    replace: "const USER_AGENT_CHARACTERS = 1_000_000;",
  },
  {
    ...E3,
    without: "escapes in what commands print",
    file: "src/cli/terminal/console.ts",
    find: "printStyled(printableLines(text));",
    replace: "printStyled(text);",
  },
  {
    ...E3,
    without: "escapes in the names of a table",
    file: REPORT,
    find: `printable(row.name ?? "(not said)")`,
    replace: `(row.name ?? "(not said)")`,
  },
  {
    ...E3,
    without: "disarming formulas",
    file: REPORT,
    find: String.raw`printable(/^[=+\-@\t\r]/.test(text) ? ${"`'${text}`"} : text)`,
    replace: "printable(text)",
  },
  {
    ...E3,
    without: "quotes around semicolons",
    file: REPORT,
    find: `/[",;]/`,
    replace: `/[",]/`,
  },
  {
    ...E5,
    without: "the record of a refused request",
    file: "src/proxy/gate.ts",
    find: `exchange.recordUnanswered("rejected", refusal.code, null);`,
    replace: "",
  },
  {
    ...E5,
    without: "the record of a client that left while its key was read",
    file: "src/proxy/gate.ts",
    find: `exchange.recordUnanswered("cut", null, "client");`,
    replace: "",
  },
  {
    ...E5,
    without: "the record of an exchange that had no answer",
    file: PASSAGE,
    find: `this.#exchange.recordUnanswered("cut", null, cutBy);`,
    replace: "",
  },
  {
    ...E5,
    without: "the record of what never came to be",
    file: PASSAGE,
    find: `this.#exchange.recordUnanswered(cutBy === null ? "rejected" : "cut", refusal.code, cutBy);`,
    replace: "",
  },
  {
    ...E5,
    without: "what a cut answer had said of its usage",
    file: PASSAGE,
    find: "if (answer === null) {",
    replace: "if (!whole || answer === null) {",
  },
  {
    ...E5,
    without: "records of what runs when we stop",
    file: "src/proxy/exchange/round-trips.ts",
    find: "for (const passage of running) passage.abort();",
    replace: "",
  },
  {
    ...E5,
    without: "a record for each: routes without usage leave none",
    file: "src/proxy/exchange/exchange.ts",
    find: "if (this.#recorded) return;",
    replace: `if (this.#recorded || this.route.spend === "never") return;`,
  },
  {
    ...E5,
    without: "one record alone, however often an exchange ends",
    test: "test/proxy/exchange/exchange.test.ts",
    file: "src/proxy/exchange/exchange.ts",
    find: "if (this.#recorded) return;",
    replace: "",
  },
  {
    ...E6,
    without: "a log that says nothing of the request's path",
    file: "src/proxy/gate.ts",
    find: "this.#log.debug({ code: refusal.code, method: req.method }",
    replace: "this.#log.debug({ code: refusal.code, method: req.method, url: req.url }",
  },
  {
    ...E6,
    without: "taking nothing but a text for the model's name",
    file: "src/core/usage/request-scan.ts",
    find: `return typeof value === "string" ? value : null;`,
    replace: `return value === undefined ? null : JSON.stringify(value);`,
  },
  {
    ...E6,
    without: "taking nothing but words for the texts of a usage",
    file: FIELDS,
    find: `return value === "" ? value : wordOf(value);`,
    replace: "return value;",
  },
  {
    ...E6,
    without: "taking nothing but words for the names in a usage",
    file: FIELDS,
    find: ".filter(([name]) => wordOf(name) !== null)",
    replace: "",
  },
  {
    ...E6,
    without: "taking nothing but a word for an error's type",
    file: "src/core/usage/errors.ts",
    find: "wordOf(code) ?? wordOf(type) ?? nameOf(code)",
    replace: "wordOf(code) ?? (type as string | null | undefined) ?? nameOf(code)",
  },
  {
    ...E6,
    without: "taking nothing but a word for a stop reason",
    file: "src/core/usage/messages.ts",
    find: `this.#stop = wordOf(fields["stop_reason"]);`,
    replace: `this.#stop = textOf(fields["stop_reason"]);`,
  },
];
