import type { Mutant } from "./mutant.ts";

const ROUND_TRIP = "src/proxy/exchange/round-trip.ts";
const METER = "src/proxy/exchange/response-meter.ts";
const COMPRESSED_ERROR = "src/proxy/exchange/compressed-error.ts";

const D6 = { row: "D6", test: "test/faults/d6-hostile-payloads.test.ts" };
const D7 = { row: "D7", test: "test/faults/d7-nothing-ends-the-daemon.test.ts" };
const D7_TLS = { row: "D7", test: "test/proxy/upstream/tls.test.ts" };

/** Rules that withstand hostile payloads: D6 and D7. */
export const PAYLOADS: readonly Mutant[] = [
  {
    ...D6,
    without: "a limit on decompressed bytes",
    file: METER,
    find: "if (this.#decodedBytes > DECODED_LIMIT_BYTES) this.#giveUp();\n    else",
    replace: "",
  },
  {
    ...D6,
    without: "a limit on the held bytes of a compressed error",
    file: COMPRESSED_ERROR,
    find: "if (this.#heldBytes <= LIMIT_BYTES) this.#chunks.push(chunk);",
    replace: "this.#chunks.push(chunk);",
  },
  {
    ...D6,
    without: "a limit on the decompressed size of an error",
    file: COMPRESSED_ERROR,
    find: "const options = { maxOutputLength: LIMIT_BYTES };",
    replace: "const options = {};",
  },
  {
    ...D6,
    without: "handling a decoder's error",
    file: METER,
    find: `decoder?.on("error", () => this.#giveUp());`,
    replace: "",
  },
  {
    ...D6,
    without: "checking token counts",
    file: "src/core/usage/fields.ts",
    find: `const isCount = typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_TOKENS;`,
    replace: `const isCount = typeof value === "number";`,
  },
  {
    ...D6,
    without: "a limit on the nesting of kept values",
    file: "src/core/usage/json/json-scanner.ts",
    find: "if (text === null || this.#skipper.maxDepth > MAX_DEPTH) return undefined;",
    replace: "if (text === null) return undefined;",
  },
  {
    ...D7_TLS,
    without: "dropping a TLS session after a failed handshake",
    file: "src/proxy/upstream/dial.ts",
    find: "this.#session = undefined;",
    replace: "",
  },
  {
    ...D7,
    without: "handling the upstream's error event",
    file: ROUND_TRIP,
    find: `upstream.on("error", (error) => this.#onUpstreamError(error));`,
    replace: "",
  },
  {
    ...D7,
    without: "checking the status before passing it on",
    file: "src/core/http/framing.ts",
    find: "status < 200 || status > 599",
    replace: "status > 599",
  },
  {
    ...D7,
    without: "checking the reason phrase before passing it on",
    file: "src/proxy/exchange/response-writer.ts",
    find: `REASON_PHRASE.test(text) ? text : ""`,
    replace: "text",
  },
  {
    ...D7,
    without: "handling errors of a closed standard output",
    file: "src/daemon/start.ts",
    find: "[process.stdout, process.stderr]",
    replace: "[process.stderr]",
  },
  {
    ...D7,
    without: "surviving a log that cannot be written",
    file: "src/adapters/log/line-output.ts",
    find: "} catch {\n      return false;",
    replace: "} catch (error) {\n      throw error;",
  },
];
