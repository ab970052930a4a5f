import type { Mutant } from "./mutant.ts";

const E3 = { row: "E3", test: "test/faults/e3-log-injection.test.ts" };
const E5 = { row: "E5", test: "test/faults/e5-unrecorded-spending.test.ts" };
const E6 = { row: "E6", test: "test/faults/e6-private-content.test.ts" };

const ROUND_TRIP = "src/proxy/exchange/round-trip.ts";
const TABLE = "src/cli/commands/usage/table.ts";
const CSV = "src/cli/terminal/csv.ts";
const FIELDS = "src/core/usage/fields.ts";

/** Rules on what records contain: E3, E5 and E6. */
export const CONTENT: readonly Mutant[] = [
  {
    row: "E6",
    test: "test/core/identity/find-script.test.ts",
    without: "telling a script from program text in the arguments",
    file: "src/core/identity/find-script.ts",
    find: "if (isProgramText(interpreter, arg)) return null;",
    replace: "",
  },
  {
    row: "E6",
    test: "test/core/identity/name-script.test.ts",
    without: "naming a process by nothing but a file's or a module's name",
    file: "src/core/identity/name-script.ts",
    find: `if (kind === "title") return null;`,
    replace: "",
  },
  {
    row: "E6",
    test: "test/core/identity/name-script.test.ts",
    without: "checking that an argument looks like a file",
    file: "src/core/identity/name-script.ts",
    find: `if (stem === base && (!path.includes("/") || base.includes("."))) return null;`,
    replace: "",
  },
  {
    ...E3,
    without: "escaping control characters in the ledger",
    file: "src/adapters/ledger-file.ts",
    find: "toPrintable(JSON.stringify(truncateRecord(record)))",
    replace: "JSON.stringify(truncateRecord(record))",
  },
  {
    ...E3,
    without: "escaping control characters in the log",
    file: "src/adapters/log/line-format.ts",
    find: "toPrintable(line.trimEnd())",
    replace: "line.trimEnd()",
  },
  {
    ...E3,
    without: "escaping C1 controls",
    file: "src/core/text/printable.ts",
    find: String.raw`[\p{Cc}`,
    replace: String.raw`[\x00-\x1f`,
  },
  {
    ...E3,
    without: "escaping bidirectional marks",
    file: "src/core/text/printable.ts",
    find: String.raw`\p{Bidi_Control}`,
    replace: "",
  },
  {
    ...E3,
    without: "limiting the length of texts",
    file: "src/core/ledger/truncate-record.ts",
    find: "const TEXT_CHARACTERS = 256;",
    replace: "const TEXT_CHARACTERS = 1_000_000;",
  },
  {
    ...E3,
    without: "limiting the length of the user agent",
    file: "src/core/ledger/truncate-record.ts",
    find: "const USER_AGENT_CHARACTERS = 512;",
    replace: "const USER_AGENT_CHARACTERS = 1_000_000;",
  },
  {
    ...E3,
    without: "escaping what commands print",
    file: "src/cli/terminal/console.ts",
    find: "printStyled(toPrintableLines(withProgramName(text)));",
    replace: "printStyled(withProgramName(text));",
  },
  {
    ...E3,
    without: "escaping names in a table",
    file: TABLE,
    find: `toPrintable(name ?? "unknown")`,
    replace: `(name ?? "unknown")`,
  },
  {
    ...E3,
    without: "escaping what has no price",
    file: "src/cli/commands/usage/sentences.ts",
    find: `"a model that is not named" : toPrintable(model)`,
    replace: `"a model that is not named" : model`,
  },
  {
    ...E3,
    without: "disarming formulas in CSV",
    file: CSV,
    find: String.raw`toPrintable(/^[=+\-@\t\r]/.test(text) ? ${"`'${text}`"} : text)`,
    replace: "toPrintable(text)",
  },
  {
    ...E3,
    without: "quoting semicolons in CSV",
    file: CSV,
    find: `/[",;]/`,
    replace: `/[",]/`,
  },
  {
    ...E5,
    without: "recording a refused request",
    file: "src/proxy/refuser.ts",
    find: `exchange.recordUnanswered("rejected", code, null);`,
    replace: "",
  },
  {
    ...E5,
    without: "recording a client that disconnected while the key was read",
    file: "src/proxy/gate.ts",
    find: `exchange.recordUnanswered("cut", null, "client");`,
    replace: "",
  },
  {
    ...E5,
    without: "recording an exchange without a response",
    file: ROUND_TRIP,
    find: `this.#exchange.recordUnanswered("cut", errorType, cutBy);`,
    replace: "",
  },
  {
    ...E5,
    without: "recording a request that never reached the upstream",
    file: ROUND_TRIP,
    find: `this.#exchange.recordUnanswered(cutBy === null ? "rejected" : "cut", refusal.code, cutBy);`,
    replace: "",
  },
  {
    ...E5,
    without: "recording the usage of a truncated response",
    file: ROUND_TRIP,
    find: "const response = this.#response;\n    if (response === null) {",
    replace: "const response = this.#response;\n    if (!isWhole || response === null) {",
  },
  {
    ...E5,
    without: "recording open exchanges at shutdown",
    file: "src/proxy/exchange/running-exchanges.ts",
    find: "for (const exchange of running) exchange.abort();",
    replace: "",
  },
  {
    ...E5,
    without: "recording routes without usage",
    file: "src/proxy/exchange/exchange-recorder.ts",
    find: "if (this.#recorded) return;",
    replace: `if (this.#recorded || this.choice.route.spend === "never") return;`,
  },
  {
    ...E5,
    without: "recording an exchange only once",
    test: "test/proxy/exchange/exchange-recorder.test.ts",
    file: "src/proxy/exchange/exchange-recorder.ts",
    find: "if (this.#recorded) return;",
    replace: "",
  },
  {
    ...E6,
    without: "keeping the path out of the log",
    file: "src/proxy/refuser.ts",
    find: "this.#parts.log.debug({ code, method: req.method }",
    replace: "this.#parts.log.debug({ code, method: req.method, url: req.url }",
  },
  {
    ...E6,
    without: "accepting only a string as the model",
    file: "src/core/usage/request-scanner.ts",
    find: `return typeof value === "string" ? value : null;`,
    replace: `return value === undefined ? null : JSON.stringify(value);`,
  },
  {
    ...E6,
    without: "accepting only words as strings in usage",
    file: FIELDS,
    find: `return value === "" ? value : asWord(value);`,
    replace: "return value;",
  },
  {
    ...E6,
    without: "accepting only words as names in usage",
    file: FIELDS,
    find: ".filter(([name]) => isName(name))",
    replace: "",
  },
  {
    ...E6,
    without: "accepting only a word as the type of an error",
    file: "src/core/usage/errors.ts",
    find: "asWord(code) ?? asWord(type) ?? asErrorCode(code)",
    replace: "asWord(code) ?? (type as string | null | undefined) ?? asErrorCode(code)",
  },
  {
    ...E6,
    without: "accepting only a word as the stop reason",
    file: "src/core/usage/messages.ts",
    find: `this.#stop = asWord(fields["stop_reason"]);`,
    replace: `this.#stop = asText(fields["stop_reason"]);`,
  },
];
