import type { Mutant } from "./mutant.ts";

const METER = "src/proxy/exchange/response-meter.ts";
const COMPRESSED_ERROR = "src/proxy/exchange/compressed-error.ts";

const D6 = { row: "D6", test: "test/faults/d6-hostile-payloads.test.ts" };
const D6_NAMES = { row: "D6", test: "test/core/usage/sentences.test.ts" };
const D6_MEMORY = { row: "D6", test: "test/core/usage/bounded-memory.test.ts" };
const D6_CHAT = { row: "D6", test: "test/core/usage/chat/cumulative-usage.test.ts" };
const D7 = { row: "D7", test: "test/faults/d7-nothing-ends-the-daemon.test.ts" };
const D7_TLS = { row: "D7", test: "test/proxy/upstream/tls.test.ts" };
const D7_SIGNALS = { row: "D7", test: "test/daemon/stop.test.ts" };
const D7_KEYS = { row: "D7", test: "test/adapters/key-sources/left-running.test.ts" };

const D7_EXPIRY = { row: "D7", test: "test/proxy/key-expiry.test.ts" };

const D7_SHORT_LIFE = {
  row: "D7",
  test: "test/proxy/short-tokens.test.ts",
  file: "src/core/secrets/key-life.ts",
};

const KEYRING = "src/proxy/keyring.ts";
const KEY_COMMAND = "src/adapters/key-sources/key-command.ts";

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
    without: "a limit on the memory of the zstd decoder for a Node without one",
    test: "test/proxy/exchange/zstd-decoder.test.ts",
    file: "src/proxy/exchange/zstd-decoder.ts",
    find: `if (this.#zstd.memory.buffer.byteLength > MEMORY_LIMIT_BYTES) throw new Error("too large a window");`,
    replace: "",
  },
  {
    ...D6,
    without: "a limit on the held bytes of a compressed error",
    file: COMPRESSED_ERROR,
    find: "if (!this.#queue.hasRoom) this.#drop();",
    replace: "",
  },
  {
    ...D6,
    without: "a limit on the decompressed size of an error",
    file: COMPRESSED_ERROR,
    find: "const options = { maxOutputLength: DECODED_LIMIT_BYTES };",
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
    ...D6_MEMORY,
    without: "a limit on the choices that are kept",
    file: "src/core/usage/json/json-scanner.ts",
    find: " && elements.length < MAX_ELEMENTS",
    replace: "",
  },
  {
    ...D6_MEMORY,
    without: "a limit on the choices that have begun",
    file: "src/core/usage/chat.ts",
    find: " || this.#open.size >= MAX_CHOICES",
    replace: "",
  },
  {
    ...D6_MEMORY,
    without: "a limit on the choices that have finished",
    file: "src/core/usage/chat.ts",
    find: "if (this.#finished.size < MAX_CHOICES) ",
    replace: "",
  },
  {
    ...D6_CHAT,
    without: "a limit on the merged usage of a chat stream",
    file: "src/core/usage/chat/cumulative-usage.ts",
    find: " && ++this.#added <= MAX_ADDED",
    replace: "",
  },
  {
    ...D6_CHAT,
    without: "keeping merged usage from the prototype",
    file: "src/core/usage/chat/cumulative-usage.ts",
    find: "isName(name) && ++this",
    replace: "++this",
  },
  {
    ...D6_NAMES,
    without: "dropping usage members with names of the prototype",
    file: "src/core/usage/fields.ts",
    find: `return WORD.test(name) && name !== "__proto__" && name !== "constructor" && name !== "prototype";`,
    replace: "return WORD.test(name);",
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
    file: "src/proxy/upstream/connection.ts",
    find: `socket.on("error", (error) => this.#user?.onBroken(error));`,
    replace: "",
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
  {
    ...D7_SIGNALS,
    without: "ignoring signals that mean nothing to it",
    file: "src/daemon/start.ts",
    find: "for (const signal of IGNORED_SIGNALS) process.on(signal, () => {});",
    replace: "",
  },
  {
    ...D7_SIGNALS,
    without: "draining at SIGQUIT",
    file: "src/daemon/lifecycle.ts",
    find: `"SIGINT", "SIGQUIT"]`,
    replace: `"SIGINT"]`,
  },
  {
    ...D7_KEYS,
    without: "ending with the key command itself",
    file: KEY_COMMAND,
    find: `child.on("exit", () => void settleAfterExit());`,
    replace: "",
  },
  {
    ...D7_KEYS,
    without: "reading what a key command printed just before its exit",
    file: KEY_COMMAND,
    find: "const settleAfterExit = async () => {\n      await readPipes();",
    replace: "const settleAfterExit = async () => {",
  },
  {
    ...D7_KEYS,
    without: "waiting for output that comes after the key command's exit",
    file: KEY_COMMAND,
    find: `if (child.exitCode !== 0 || output.stdout !== "") settle(null);`,
    replace: "settle(null);",
  },
  {
    ...D7_KEYS,
    without: "leaving alone what a key command has left running",
    file: KEY_COMMAND,
    find: `settle(hasExited(child) ? null : "time")`,
    replace: `settle("time")`,
  },
  {
    ...D7_KEYS,
    without: "closing the pipes of what a key command has left running",
    file: KEY_COMMAND,
    find: "closePipes(child);\n      resolve(",
    replace: "resolve(",
  },
  {
    ...D7_EXPIRY,
    without: "running a key command once for all requests that find its key late in its life",
    file: KEYRING,
    find: "if (entry.pending !== null) return;",
    replace: "",
  },
  {
    ...D7_EXPIRY,
    without: "leaving a key command that fails alone for a while",
    file: KEYRING,
    find: "this.#clock.monotonic() < entry.failed.retryAt",
    replace: "false",
  },
  {
    ...D7_EXPIRY,
    without: "ceasing to send a key that has expired",
    file: KEYRING,
    find: "return hasCome(entry.life.expiresAt, now) ? null : entry.secret;",
    replace: "return entry.secret;",
  },
  {
    ...D7_SHORT_LIFE,
    without: "counting a key's life by the time that passes, too",
    find: "now.wall >= wall || now.machine >= machine",
    replace: "now.wall >= wall",
  },
  {
    ...D7_SHORT_LIFE,
    without: "trying a command that fails again before its key's short life ends",
    find: "Math.min(lifeMs * BACK_OFF_SHARE, MAX_BACK_OFF_MS)",
    replace: "MAX_BACK_OFF_MS",
  },
  {
    row: "D7",
    test: "test/proxy/short-tokens.test.ts",
    without: "telling a sleep from a clock that was set",
    file: "src/core/secrets/machine-time.ts",
    find: "Math.max(awake, boot - this.#sinceBoot)",
    replace: "wall - this.#wall",
  },
  {
    row: "D7",
    test: "test/proxy/short-tokens.test.ts",
    without: "counting a sleep as a part of a key's life",
    file: "src/core/secrets/machine-time.ts",
    find: "Math.max(awake, boot - this.#sinceBoot)",
    replace: "awake",
  },
];
