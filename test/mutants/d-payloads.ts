import type { Mutant } from "./mutant.ts";

const PASSAGE = "src/proxy/exchange/round-trip.ts";
const METER = "src/proxy/exchange/response-meter.ts";
const COMPRESSED_ERROR = "src/proxy/exchange/compressed-error.ts";

const D6 = { row: "D6", test: "test/faults/d6-hostile-payloads.test.ts" };
const D7 = { row: "D7", test: "test/faults/d7-nothing-ends-the-daemon.test.ts" };
const D7_TLS = { row: "D7", test: "test/proxy/upstream/tls.test.ts" };

/** Whatever is sent to the daemon: D6 and D7. */
export const PAYLOADS: readonly Mutant[] = [
  {
    ...D6,
    without: "an end to unfolding",
    file: METER,
    find: "if (this.#decodedBytes > DECODED_LIMIT_BYTES) this.#giveUp();\n    else",
    replace: "",
  },
  {
    ...D6,
    without: "a bound to how much of a compressed error is held back",
    file: COMPRESSED_ERROR,
    find: "if (this.#heldBytes <= LIMIT_BYTES) this.#chunks.push(chunk);",
    replace: "this.#chunks.push(chunk);",
  },
  {
    ...D6,
    without: "a bound to what a compressed error may unfold to",
    file: COMPRESSED_ERROR,
    find: "const options = { maxOutputLength: LIMIT_BYTES };",
    replace: "const options = {};",
  },
  {
    ...D6,
    without: "an ear for a decoder's faults",
    file: METER,
    find: `decoder?.on("error", () => this.#giveUp());`,
    replace: "",
  },
  {
    ...D6,
    without: "a look at what a count is",
    file: "src/core/usage/fields.ts",
    find: `const isCount = typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MOST_TOKENS;`,
    replace: `const isCount = typeof value === "number";`,
  },
  {
    ...D6,
    without: "a limit to how deep a kept value nests",
    file: "src/core/usage/json/json-scan.ts",
    find: "if (text === null || this.#hop.deepest > KEPT_DEPTH) return undefined;",
    replace: "if (text === null) return undefined;",
  },
  {
    ...D7_TLS,
    without: "doubt of a session with which a handshake has failed",
    file: "src/proxy/upstream/dial.ts",
    find: "    this.#session = undefined;\n",
    replace: "",
  },
  {
    ...D7,
    without: "an ear for the upstream's errors",
    file: PASSAGE,
    find: `upstream.on("error", (error) => this.#onUpstreamError(error));`,
    replace: "",
  },
  {
    ...D7,
    without: "a look at the status before it is passed on",
    file: "src/core/http/response-head.ts",
    find: "status < 200 || status > 599",
    replace: "status > 599",
  },
  {
    ...D7,
    without: "a look at the reason before it is passed on",
    file: "src/proxy/exchange/response-writer.ts",
    find: `REASON_PHRASE.test(text) ? text : ""`,
    replace: "text",
  },
  {
    ...D7,
    without: "an ear for a standard output that nobody reads",
    file: "src/daemon/start.ts",
    find: "[process.stdout, process.stderr]",
    replace: "[process.stderr]",
  },
  {
    ...D7,
    without: "a log that ends nothing when it cannot be written",
    file: "src/adapters/log/line-output.ts",
    find: "} catch {\n      return false;",
    replace: "} catch (error) {\n      throw error;",
  },
];
