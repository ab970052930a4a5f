import type { Mutant } from "./mutant.ts";

const G1 = { row: "G1", test: "test/security/g1-what-leaves.test.ts" };
const G2 = { row: "G2", test: "test/security/g2-collectors-secret.test.ts" };
const G3 = { row: "G3", test: "test/faults/g3-dead-collector.test.ts" };
const G3_RECEIVERS = { row: "G3", test: "test/cli/export/exporter.test.ts" };
const G3_CURSOR = { row: "G3", test: "test/adapters/ledger-file/read-after.test.ts" };

const DELIVERY = "src/cli/export/delivery.ts";
const EXPORTER = "src/cli/export/exporter.ts";

/** Rules of what is sent to a collector. */
export const G: readonly Mutant[] = [
  {
    ...G1,
    without: "keeping the user agent here",
    file: "src/core/export/describe-exchange.ts",
    find: '"tollkeeper.tool_by": record.tool_by,',
    replace: '"tollkeeper.tool_by": record.tool_by, "user_agent.original": record.user_agent,',
  },
  {
    ...G1,
    without: "naming no machine unless asked",
    file: "src/core/export/resource.ts",
    find: '...(machine === "name" && { "host.name": hostName }),',
    replace: '"host.name": hostName,',
  },
  {
    ...G2,
    without: "encryption of secrets",
    file: "src/core/config/export-schema.ts",
    find: "if (secret === undefined) return given;",
    replace: "return given;",
  },
  {
    ...G2,
    without: "encryption by default",
    file: "src/core/config/export-schema.ts",
    find: "if (!plainHttp)",
    replace: "if (false)",
  },
  {
    ...G2,
    without: "the origin of a secret",
    file: "src/core/export/header-secrets.ts",
    find: "origin: endpoint.origin,",
    replace: 'origin: "https://otel.example.com:4318",',
  },
  {
    ...G2,
    without: "credentials out of the file",
    file: "src/core/config/export-schema.ts",
    find: "if (open !== undefined)",
    replace: "if (false)",
  },
  {
    ...G3,
    without: "checkpoints",
    file: EXPORTER,
    find: "await saveCheckpoint(this.#options.path, this.#checkpoint);",
    replace: "",
  },
  {
    ...G3,
    without: "the sums in the checkpoint",
    file: EXPORTER,
    find: "metrics: this.#metrics.encode() };",
    replace: "};",
  },
  {
    ...G3,
    without: "the moment with which the first export begins",
    file: "src/cli/export/open-exporter.ts",
    find: "if (since === null) return { cursor: cursorAtEnd(directory), state: firstState() };",
    replace: "if (since !== -1) return { cursor: cursorAtEnd(directory), state: firstState() };",
  },
  {
    ...G3,
    without: "one warning only",
    file: "src/daemon/exporter.ts",
    find: "if (problem !== null && before === null)",
    replace: "if (problem !== null)",
  },
  {
    ...G3,
    without: "the end of an exporter with its daemon",
    file: "src/cli/commands/monitoring/export.ts",
    // Its input and its output both end with the daemon.
    find: "const end = () => over.abort();",
    replace: "const end = () => {};",
  },
  {
    ...G3_RECEIVERS,
    without: "sending again what was not accepted",
    file: DELIVERY,
    find: 'if (verdict.kind === "later") await this.#wait(signal, verdict);',
    replace: 'if (verdict.kind === "later") return true;',
  },
  {
    ...G3_RECEIVERS,
    without: "asking a receiver whether it is one before a record is passed over",
    file: DELIVERY,
    find: 'if (nothing.verdict.kind === "accepted") return false;',
    replace: 'if (nothing.verdict.kind === "accepted" || this.#failures >= 0) return false;',
  },
  {
    ...G3_CURSOR,
    without: "telling another file from one that was read",
    file: "src/adapters/ledger-file/after/day-after.ts",
    find: "return lines > 0 && known !== 0 && start !== known;",
    replace: "return false;",
  },
];
