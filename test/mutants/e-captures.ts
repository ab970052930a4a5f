import type { Mutant } from "./mutant.ts";

const E11 = { row: "E11", test: "test/faults/e11-captured-content.test.ts" };
const CAPTURES = "src/daemon/capture/captures.ts";
const CAPTURE = "src/daemon/capture/capture.ts";
const FILE = "src/adapters/capture/capture-file.ts";

/** Rules for what a person has captured: E11. */
export const CAPTURED: readonly Mutant[] = [
  {
    row: "E11",
    test: "test/daemon/capture/captures.test.ts",
    without: "capturing the named tool only",
    file: CAPTURES,
    find: "(capture) => capture.asked.tool === record.tool && capture.ranAt(started)",
    replace: "(capture) => capture.ranAt(started)",
  },
  {
    ...E11,
    without: "refusing captures that the configuration forbids",
    file: CAPTURES,
    find: "if (config().capture) return;",
    replace: "return;",
  },
  {
    ...E11,
    without: "deleting captures when they are forbidden",
    file: CAPTURES,
    find: "if (capture || this.#captures.size === 0) return;",
    replace: "return;",
  },
  {
    ...E11,
    without: "deleting captures when their time is over",
    file: CAPTURES,
    find: "if (now >= capture.asked.deletedAt || tick >= deletedTick) void this.#delete(capture);",
    replace: "if (now >= capture.asked.deletedAt && tick < deletedTick) capture.end(now, '');",
  },
  {
    ...E11,
    without: "ending a capture that has as many requests as it takes",
    file: CAPTURE,
    find: "if (this.#isDeleted || this.#isFull) return false;",
    replace: "if (this.#isDeleted) return false;",
  },
  {
    ...E11,
    without: "removing the name of the file",
    file: FILE,
    find: "    unlinkSync(path);\n    return new CaptureFile(handle);",
    replace: "    return new CaptureFile(handle);",
  },
  {
    ...E11,
    without: "encrypting what is written",
    file: FILE,
    find: "const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);",
    replace:
      "const sealed = Buffer.concat([cipher.update(plain) && plain, cipher.final(), cipher.getAuthTag()]);",
  },
  {
    ...E11,
    without: "removing keys from bodies",
    file: CAPTURE,
    find: "const secrets = [...configured, ...credentialsIn(received), ...credentialsIn(responseHeaders)];",
    replace: "const secrets = [...credentialsIn(received), ...credentialsIn(responseHeaders)];",
  },
  {
    ...E11,
    without: "removing the values of credentials in headers",
    file: "src/core/capture/strip-headers.ts",
    find: "isCredential(policy) ? REMOVED : redactCredentials(value)",
    replace: "value",
  },
  {
    ...E11,
    without: "removing named secrets from texts in texts",
    file: "src/core/secrets/redact-body.ts",
    find: "if (isSecretOf(name, value))",
    replace: "if (value === text && isSecretOf(name, value))",
  },
];
