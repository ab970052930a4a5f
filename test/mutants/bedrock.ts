import type { Mutant } from "./mutant.ts";

const PATHS = { row: "B2", test: "test/core/http/bedrock/model-path.test.ts" };
const C13 = { row: "C13", test: "test/proxy/bedrock.test.ts" };
const SIGNED = { test: "test/proxy/sigv4.test.ts" };
const KEY_TEST = { test: "test/cli/commands/key-test-bedrock.test.ts" };
const FRAMES = { row: "E5", test: "test/core/usage/bedrock/frames.test.ts" };
const USAGE = { row: "E5", test: "test/core/usage/bedrock/responses.test.ts" };

const PATH = "src/core/http/bedrock/model-path.ts";
const SCANNER = "src/core/usage/bedrock/frame-scanner.ts";
const COLLECTOR = "src/core/usage/bedrock/responses.ts";

/** Rules on the model in the paths of Amazon Bedrock, and on what its responses count. */
export const BEDROCK: readonly Mutant[] = [
  {
    row: "connect",
    test: "test/tools/claude-code.test.ts",
    without: "knowing that Claude Code uses Bedrock at tollkeeper",
    file: "src/tools/claude-code.ts",
    find: "endpoint.reach.bedrockRegion !== null || usesBedrockHere(layers, endpoint)",
    replace: "endpoint.reach.bedrockRegion !== null",
  },
  {
    row: "B8",
    test: "test/core/secrets/aws-keys.test.ts",
    without: "recognizing a secret access key that stands alone",
    file: "src/core/secrets/aws-keys.ts",
    find: "(?:[A-Za-z0-9/+]{40}|",
    replace: "(?:",
  },
  {
    ...PATHS,
    without: "refusing an escaped slash outside of an ARN",
    file: PATH,
    find: "return NAME.test(name) || ARN.test(name);",
    replace: 'return NAME.test(name.replaceAll("/", "")) || ARN.test(name);',
  },
  {
    ...PATHS,
    without: "refusing escapes that no client needs",
    file: PATH,
    find: "((?:[A-Za-z0-9._:-]|%3[Aa]|%2[Ff])+)",
    replace: "((?:[A-Za-z0-9._:-]|%[0-9A-Fa-f]{2})+)",
  },
  {
    ...PATHS,
    without: "reading again the path into which an alias was put",
    file: PATH,
    find: "if (!isModel(model)) return null;",
    replace: "",
  },
  {
    ...C13,
    without: "looking for other models in the body where Bedrock's path decides",
    file: "src/proxy/exchange/model-guard.ts",
    find: 'if (route.api === "bedrock" || route.path.startsWith(GOOGLE_MODEL)) {',
    replace: "if (route.path.startsWith(GOOGLE_MODEL)) {",
  },
  {
    ...C13,
    without: "looking for other models in what Bedrock passes on to the model",
    file: "src/proxy/exchange/model-guard.ts",
    find: "messages: 1, bedrock: 2 };",
    replace: "messages: 1, bedrock: 1 };",
  },
  {
    ...SIGNED,
    row: "C3",
    without: "taking a client's own signature off",
    file: "src/core/http/header-policy.ts",
    find: '"x-amz-content-sha256",',
    replace: "",
  },
  {
    ...SIGNED,
    row: "C3",
    without: "signing all of AWS's headers",
    file: "src/proxy/signing/aws-signer.ts",
    find: '!name.startsWith("x-amz")',
    replace: '!name.startsWith("x-amz-")',
  },
  {
    ...SIGNED,
    row: "D8",
    without: "refusing to hold a body that memory has no room for",
    file: "src/proxy/exchange/read-body.ts",
    find: "else if (buffer.isFull) finish(whenFull());",
    replace: "else if (bytes < 0) finish(whenFull());",
  },
  {
    ...SIGNED,
    row: "B8",
    without: "searching what comes back for the session token",
    file: "src/core/secrets/aws-keys.ts",
    find: "super(sessionToken ?? secretAccessKey, expiresAt);",
    replace: "super(secretAccessKey, expiresAt);",
  },
  {
    ...SIGNED,
    row: "C3",
    without: "signing the whole body of another attempt",
    file: "src/proxy/sender.ts",
    find: "payloadOf(content)",
    replace: "payloadOf(content.subarray(1))",
  },
  {
    ...KEY_TEST,
    row: "C3",
    without: "signing the request that tests access keys",
    file: "src/proxy/upstream/try-bedrock.ts",
    find: "return signHeaders(framed, { upstream, route, path }, secret, payloadOf(BODY), Date.now());",
    replace: "return framed;",
  },
  {
    row: "C3",
    test: "test/core/secrets/key-output.test.ts",
    without: "never sending a secret access key as a key",
    file: "src/core/secrets/aws-keys.ts",
    find: 'throw new Error("AWS access keys sign requests, and are never sent");',
    replace: "return super.reveal() as never;",
  },
  {
    ...FRAMES,
    without: "checking the checksum of a frame's lengths",
    file: SCANNER,
    find: "addCrc32(0, this.#head, 0, LENGTHS_BYTES) !== this.#head.readUInt32BE(LENGTHS_BYTES) ||",
    replace: "",
  },
  {
    ...FRAMES,
    without: "checking the checksum of a frame",
    file: SCANNER,
    find: "this.#isBroken = this.#head.readUInt32BE(0) !== this.#crc;",
    replace: "",
  },
  {
    ...FRAMES,
    row: "D6",
    without: "limiting a frame's headers",
    file: SCANNER,
    find: "headersBytes > MAX_HEADERS_BYTES ||",
    replace: "",
  },
  {
    ...USAGE,
    without: "telling an exception from an event",
    file: SCANNER,
    find: 'if (message === EXCEPTION || message === "error") {',
    replace: 'if (message === "error") {',
  },
  {
    ...USAGE,
    without: "counting what Bedrock bills before what the model says",
    file: COLLECTOR,
    find: "const raw = removeSentences(billed ?? this.#usage ?? {});",
    replace: "const raw = removeSentences(this.#usage ?? billed ?? {});",
  },
  {
    ...USAGE,
    without: "pricing Claude by the regions that the path names",
    file: COLLECTOR,
    find: "if (this.#isAsked(reading.model)) reading.model = this.#said?.asked ?? null;",
    replace: "",
  },
  {
    ...USAGE,
    without: "leaving the cache outside of the input of Converse",
    file: "src/core/usage/bedrock/usage.ts",
    find: "return { uncached, read,",
    replace: "return { uncached: (uncached ?? 0) - (read ?? 0), read,",
  },
  {
    ...USAGE,
    without: "taking the lifetimes of what was written to the cache from Converse",
    file: "src/core/usage/bedrock/usage.ts",
    find: 'lifetimes: readLifetimes(usage["cacheDetails"])',
    replace: "lifetimes: null",
  },
  {
    row: "B8",
    test: "test/proxy/forgotten-signing-keys.test.ts",
    without: "forgetting what was derived from access keys along with them",
    file: "src/proxy/keyring.ts",
    find: "    void forgetSigningKeys();\n",
    replace: "",
  },
];
