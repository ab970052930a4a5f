// Each message says what happened, to what and why, and ends with the command to type, so that it can be copied to the end.
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createKeySources } from "../../../src/adapters/key-sources.ts";
import * as keychainFailures from "../../../src/adapters/keychain/failures.ts";
import { createUpstream, defaultConfig } from "../../../src/core/config/config.ts";
import { KeyFailure } from "../../../src/core/failure.ts";
import { admit } from "../../../src/core/http/admission.ts";
import type { Api } from "../../../src/core/http/api.ts";
import { HeaderIndex } from "../../../src/core/http/header-index.ts";
import { provokesRetry } from "../../../src/core/refusals/retry-triggers.ts";
import { configOptionOf, renderRefusal, type Refusal } from "../../../src/core/refusals/refusal.ts";
import { judgeModel } from "../../../src/core/policy/tool-policy.ts";
import { resolveKeyRef } from "../../../src/core/policy/configured-keys.ts";
import type { KeySource } from "../../../src/core/secrets/key-source.ts";
import * as accessRefusals from "../../../src/core/refusals/access.ts";
import { onlyJson } from "../../../src/core/refusals/admission.ts";
import { refuseToKeep } from "../../../src/core/refusals/keep.ts";
import { noKey, noSuchKey } from "../../../src/core/refusals/keys.ts";
import { modelNotServed, unreadableModel } from "../../../src/core/refusals/models.ts";
import * as ownKeyRefusals from "../../../src/core/refusals/own-keys.ts";
import * as routeRefusals from "../../../src/core/refusals/routes.ts";
import * as limitRefusals from "../../../src/core/refusals/limits.ts";
import { localCalendar } from "../../../src/core/ledger/calendar.ts";
import { prepareSettings } from "../../../src/core/decide/settings.ts";
import { invalidResponse, noUpstream, plainToTls } from "../../../src/core/refusals/upstreams.ts";
import { TunnelError, type TunnelErrorCode } from "../../../src/core/http/tunnel-response.ts";
import { TOOLS, WRITABLE_TOOL_NAMES } from "../../../src/tools/all.ts";
import { LIBRARY_SIGNATURES } from "../../../src/tools/libraries.ts";
import { MemoryKeys } from "../../helpers/gate/memory.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

/** Two lines and a half of a wide terminal. */
const MOST_CHARACTERS = 480;

/** Fails unless the message, as both APIs carry it, is a few sentences with the whole command at the end. */
function assertCommandIsSeen(refusal: Refusal | null): void {
  assert.ok(refusal !== null);
  for (const api of ["messages", "responses"] as const) {
    const { error } = JSON.parse(renderRefusal(refusal, api).body.toString()) as {
      error: { message: string };
    };
    assert.match(error.message, /^tollkeeper(?::| )[^.].*[.?] Type: [^;]+$/);
    assert.ok(error.message.endsWith(` Type: ${refusal.command}`), error.message);
    assert.ok(error.message.length <= MOST_CHARACTERS, error.message);
    assert.doesNotMatch(error.message, /[^.]\.\. |[?;:]\. |; *Type/);
    assert.doesNotMatch(error.message, /undefined|null|\[object/);
    assertFileIsNamed(refusal, api, error.message);
  }
}

/** As long as the path of a configuration file may be for a message to name it. */
const LONG_OPTION = configOptionOf(`/${"c".repeat(90)}`);

/** Fails unless the command names the configuration file that the daemon was started with, where the command reads it, and nothing else changes. */
function assertFileIsNamed(refusal: Refusal, api: Api, unnamed: string): void {
  const { error } = JSON.parse(renderRefusal(refusal, api, LONG_OPTION).body.toString()) as {
    error: { message: string };
  };
  const [, words] = /^tollkeeper (.*)$/.exec(refusal.command) ?? [];
  const named =
    words === undefined || /--help|^service logs$/.test(words)
      ? refusal.command
      : `tollkeeper ${LONG_OPTION} ${words}`;
  assert.ok(error.message.endsWith(` Type: ${named}`), error.message);
  assert.equal(error.message.replaceAll(` ${LONG_OPTION}`, ""), unnamed);
}

/** A key with names of ordinary length, at an upstream other than the default. */
const UPSTREAM = createUpstream("openrouter", "https://openrouter.ai/api/v1");
const REF = resolveKeyRef(UPSTREAM, "claude-code");

/** The files that create refusals. This test covers each export of theirs that does. */
const PRODUCERS = [
  "access",
  "admission",
  "budgets",
  "keep",
  "keys",
  "limits",
  "models",
  "own-keys",
  "plans",
  "policy",
  "refusal",
  "routes",
  "upstreams",
].map((name) => `core/refusals/${name}.ts`);

test("no other file of the request path creates refusals", () => {
  const root = fileURLToPath(new URL("../../../src/", import.meta.url));
  const files = (readdirSync(root, { recursive: true }) as string[]).filter((file) =>
    /^(?:core.(?:budget|http|policy|refusals)|proxy).*\.ts$/.test(file),
  );
  const isProducer = (file: string) =>
    /\bproblem[:,].*\bcommand[:,]/s.test(readFileSync(join(root, file), "utf8"));
  assert.deepEqual(files.filter(isProducer).toSorted(), PRODUCERS);
});

test("a brake that keeps what is left names the command, also for long names", () => {
  const low = { window: "7d overage-included", leftPercent: 12.34, resetsAt: Date.UTC(2026, 11, 3) };
  const terms = { requestsPerMinute: null, concurrent: null, same: null, keep: 15 };
  for (const kind of ["tool", "group"] as const) {
    const brake = { scope: { kind, name: "a-tool-with-a-rather-long-name" }, terms };
    for (const one of [brake, { ...brake, terms: { ...terms, concurrent: 3 } }])
      assertCommandIsSeen(
        refuseToKeep(one, "openrouter/claude-code", low, Date.UTC(2026, 10, 29), localCalendar()),
      );
  }
});

test("a request that is not admitted names the command", () => {
  const HOST = ["host", "127.0.0.1:65535"];
  const POST = [...HOST, "content-type", "application/json"];
  const requests: [httpVersion: string, headers: string[]][] = [
    ["1.1", ["host", "evil.example"]],
    ["1.1", [...HOST, "origin", "https://evil.example"]],
    ["1.0", HOST],
    ["1.1", [...HOST, "transfer-encoding", "gzip"]],
    ["1.1", [...HOST, "content-length", "0x5"]],
    ["1.1", [...HOST, "anthropic-version", "1", "anthropic-version", "2"]],
    ["1.1", [...HOST, "x-tollkeeper-tool", "a", "x-tollkeeper-tool", "b"]],
    ["1.1", [...POST, "transfer-encoding", "chunked", "content-length", "1"]],
  ];
  const rules = { allowedHosts: [], allowedOrigins: [] };
  for (const [httpVersion, headers] of requests) {
    assertCommandIsSeen(admit({ httpVersion, headers: new HeaderIndex(headers), localPort: 65_535 }, rules));
  }
});

test("a request that is not forwarded names the command", () => {
  const {
    badHandshake,
    noBodyAllowed,
    noRoute,
    noWebSocket,
    showPath: __,
    wrongMethod,
    ...fixed
  } = routeRefusals;
  const { tokenRequired: ___, ...others } = accessRefusals;
  for (const refusal of Object.values({ ...fixed, ...others })) assertCommandIsSeen(refusal);
  for (const url of [null, "http://127.0.0.1:8655/v1/responses", "http://127.0.0.1:8500/v1/responses"]) {
    assertCommandIsSeen(wrongMethod("PUT", "/v1/responses", "GET, POST", url));
    assertCommandIsSeen(wrongMethod("POST", "/v1/models", "GET", url));
    if (url !== null) assertCommandIsSeen(onlyJson(url));
  }
  assertCommandIsSeen(badHandshake("a problem of the handshake that is long"));
  assertCommandIsSeen(noWebSocket("there is no WebSocket here", "a reason"));
  assertCommandIsSeen(noRoute("DELETE", `/v1/${"x".repeat(9000)}`));
  assertCommandIsSeen(noBodyAllowed("DELETE"));
  assertCommandIsSeen(noRoute("POST", "/v1/images/variations"));
  assertCommandIsSeen(noRoute("POST", "/t/Claude%20Code/v1/messages"));
  assertCommandIsSeen(unreadableModel("x".repeat(100)));
  const { destinations } = prepareSettings({
    ...defaultConfig,
    upstreams: { default: createUpstream("default", "http://127.0.0.1:1/v1") },
  });
  for (const model of ["gpt-5", "it's", "m".repeat(1000)])
    assertCommandIsSeen(modelNotServed(model, destinations));
});

test("a request that its group forbids names the command, whatever the names are", () => {
  for (const group of ["a", "small", "frontier-models", "g".repeat(64)]) {
    for (const model of ["m", "m".repeat(1000), "\u001b[31m"]) {
      const request = { tool: "t".repeat(64), asked: `${model}-alias`, model };
      assertCommandIsSeen(judgeModel({ group, patterns: ["x*"] }, request));
    }
  }
});

test("a request without a token names a command that works for its tool", () => {
  const names = [...TOOLS, ...LIBRARY_SIGNATURES.map(({ tool: name }) => ({ name }))].map(({ name }) => name);
  for (const tool of [...names, "my-script"]) {
    for (const rule of ["access", "listed name"] as const) {
      const identity = { tool, by: "path", session: null } as const;
      const refusal = accessRefusals.tokenRequired(identity, WRITABLE_TOOL_NAMES, rule);
      assertCommandIsSeen(refusal);
      // `connect` writes a token only where `access` requires one.
      const command = rule === "access" && WRITABLE_TOOL_NAMES.has(tool) ? "connect" : "token add";
      assert.equal(refusal.command, `tollkeeper ${command} ${tool}`);
    }
  }
  const unknown = { tool: "unknown", by: "unknown", session: null } as const;
  const refusal = accessRefusals.tokenRequired(unknown, WRITABLE_TOOL_NAMES, "access");
  assert.equal(refusal.command, "tollkeeper token add NAME");
});

test("a request that a limit ends names the command", () => {
  const limit = Number.MAX_SAFE_INTEGER;
  const {
    bufferFull,
    headTooLarge,
    noConnection,
    noRoomToSign,
    tooLarge,
    tooManyMessages,
    tooSilent,
    tooSlow,
    tooStuck,
    ...others
  } = limitRefusals;
  assert.deepEqual(others, {});
  assertCommandIsSeen(tooManyMessages(limit));
  for (const refusal of [bufferFull(), headTooLarge(limit), noRoomToSign(), tooLarge(limit), tooSlow(limit)])
    assertCommandIsSeen(refusal);
  const named = [tooSilent, tooStuck, noConnection].map((refuse) => refuse(UPSTREAM, limit, true));
  for (const refusal of named) {
    assertCommandIsSeen(refusal);
    assert.match(refusal.problem, /upstream "openrouter" \(https:\/\/openrouter\.ai\)/);
  }
});

test("a request without a key of the tool's own, or with one that could be for two services, names the command", () => {
  const { noOwnKey, unclearOwnKey, ...others } = ownKeyRefusals;
  assert.deepEqual(others, {});
  assertCommandIsSeen(noOwnKey(UPSTREAM, "the request has a placeholder, and no key"));
  for (const tool of ["", "claude-code"]) assertCommandIsSeen(unclearOwnKey(tool, UPSTREAM, ["openai"]));
});

test("a certificate outside its dates, an upstream's or a proxy's, has the reader check the clock", () => {
  for (const code of ["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID"]) {
    const errors = [Object.assign(new Error(), { code }), new TunnelError("ERR_PROXY_UNREACHABLE", code)];
    for (const error of errors) {
      const { advice, command } = noUpstream(error, UPSTREAM, "linux");
      assert.match(advice ?? "", /needs a new certificate; check the clock$/);
      assert.equal(command, "date");
    }
  }
});

test("an upstream that fails names the command", () => {
  const codes = [
    "ECONNREFUSED",
    "ENOTFOUND",
    "EAI_AGAIN",
    "ENETUNREACH",
    "ETIMEDOUT",
    "ECONNRESET",
    "CERT_HAS_EXPIRED",
    "CERT_NOT_YET_VALID",
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "EPROTO",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "CERT_SIGNATURE_FAILURE",
    "EOTHER",
  ];
  for (const code of codes) {
    assertCommandIsSeen(noUpstream(Object.assign(new Error(), { code }), UPSTREAM, "linux"));
    assertCommandIsSeen(noUpstream(new TunnelError("ERR_PROXY_UNREACHABLE", code), UPSTREAM, "linux"));
  }
  const tunnel: TunnelErrorCode[] = [
    "ERR_PROXY_CLOSED",
    "ERR_PROXY_NOT_HTTP",
    "ERR_PROXY_AUTH_MISSING",
    "ERR_PROXY_AUTH_WRONG",
    "ERR_PROXY_AUTH_UNKNOWN",
    "ERR_PROXY_REFUSED",
    "ERR_PROXY_FAILED",
  ];
  for (const code of tunnel) assertCommandIsSeen(noUpstream(new TunnelError(code, "503"), UPSTREAM, "linux"));
  assertCommandIsSeen(invalidResponse(UPSTREAM, "the upstream responded with status 999"));
});

/** What a local server is called and where it is, and what of that a tool would take as a reason to send the request again. */
const LOCAL = [
  ["local", "http://127.0.0.1:9104/v1"],
  ["local", "http://127.0.0.1:5020/v1"],
  ["overloaded", "http://127.0.0.1:4290/v1"],
] as const;

for (const [name, baseUrl] of LOCAL) {
  test(`the refusal of a request to ${name} at ${baseUrl} names what no tool takes as a reason to try again`, () => {
    const upstream = createUpstream(name, baseUrl);
    const wrongScheme = plainToTls(upstream);
    assertCommandIsSeen(wrongScheme);
    const { error } = JSON.parse(renderRefusal(wrongScheme, "messages").body.toString()) as {
      error: { message: string };
    };
    assert.equal(provokesRetry(error.message), false);
    const down = noUpstream(Object.assign(new Error(), { code: "ECONNREFUSED" }), upstream, "linux");
    const { body } = renderRefusal(down, "messages");
    const { message } = (JSON.parse(body.toString()) as { error: { message: string } }).error;
    assert.equal(
      message,
      `tollkeeper cannot reach upstream "${name}" (${upstream.origin}): connection refused. Type: tollkeeper doctor`,
    );
  });
}

test("a server that wants the other scheme is named with the command that sets it", () => {
  const upstream = createUpstream("local", "http://127.0.0.1:9104/v1");
  assert.deepEqual(plainToTls(upstream), {
    code: "upstream_misconfigured",
    problem: 'tollkeeper cannot reach upstream "local" (http://127.0.0.1:9104)',
    reason: "its server speaks TLS, not plain HTTP",
    advice: "did you mean https://127.0.0.1:9104/v1?",
    command: "tollkeeper config set upstreams.local.baseUrl https://127.0.0.1:9104/v1",
  });
  const secure = createUpstream("local", "https://localhost:9104/v1");
  const noTls = Object.assign(new Error(), { code: "ERR_SSL_WRONG_VERSION_NUMBER" });
  const { advice, command } = noUpstream(noTls, secure, "linux");
  assert.equal(advice, "did you mean http://localhost:9104/v1?");
  assert.equal(command, "tollkeeper config set upstreams.local.baseUrl http://localhost:9104/v1");
  // Elsewhere plain http is not possible.
  assert.equal(noUpstream(noTls, UPSTREAM, "linux").command, "tollkeeper config edit");
});

test("a keychain that fails names the command", () => {
  const texts = [
    "Cannot autolaunch D-Bus",
    "Could not connect",
    "libsecret-1.so.0: cannot open",
    "keytar.node is missing",
    "The name is not provided by any .service files",
    "Process exited with status 1",
    "IsLocked",
    "Object does not exist at path",
    "-25293",
    "Timeout was reached",
    "something else",
  ];
  const {
    failureOf,
    knownFailure,
    noDefaultCollection,
    invalidKey,
    childDied,
    withoutElsewhere: _wording,
    ...known
  } = keychainFailures;
  const failures = [
    ...texts.map((text) => failureOf(text, REF)),
    ...Object.values(known).map((failure) => knownFailure(failure, REF)),
    noDefaultCollection(REF, []),
    noDefaultCollection(REF, ["/org/freedesktop/secrets/collection/login"]),
    noSuchKey(REF, false),
    noSuchKey(REF, true),
    invalidKey(REF, "it has spaces"),
    childDied("SIGSEGV", REF),
  ];
  for (const failure of failures) assertCommandIsSeen(noKey(failure));
});

test("a client reads all of a hint that a short text has room for, whatever the keychain says", () => {
  const { failureOf } = keychainFailures;
  assert.equal(noKey(noSuchKey(REF, false)).advice, undefined);
  assert.equal(noKey(noSuchKey(REF, true)).advice, "unlock the keychain");
  const { body } = renderRefusal(noKey(noSuchKey(REF, true)), "messages");
  assert.match(body.toString(), /told apart\. Unlock the keychain\. Type: tollkeeper key set/);
  const denied = failureOf("prompt: cancelled", REF);
  assert.match(noKey(denied).advice ?? "", /^allow it when asked/);
});

test("another key source that fails names the command", async (t) => {
  const directory = scratchDirectory(t);
  const path = (name: string) => join(directory, name);
  for (const name of ["open", "empty"]) writeFileSync(path(name), "", { mode: 0o600 });
  chmodSync(path("open"), 0o644);
  mkdirSync(path("directory"));
  symlinkSync(path("empty"), path("link"));
  const sources: KeySource[] = [
    ...["open", "empty", "directory", "link", "none"].map(
      (name) => ({ kind: "file", path: path(name) }) as const,
    ),
    ...[["false"], ["no-such-command"], [path("empty")], ["yes"]].map(
      (argv) => ({ kind: "command", argv: argv as [string] }) as const,
    ),
    ...["none", "a/b"].map((name) => ({ kind: "credential", name }) as const),
  ];
  const store = createKeySources(new MemoryKeys());
  for (const source of sources) {
    const failure: unknown = await store.read({ ...REF, source }).catch((error: unknown) => error);
    assert.ok(failure instanceof KeyFailure, JSON.stringify(source));
    assertCommandIsSeen(noKey(failure));
  }
});

test("a key that is not stored names the whole command for its upstream", () => {
  const [first, other] = [
    createUpstream("default", "https://api.example.com/v1"),
    createUpstream("other", "https://api.example.org/v1"),
  ];
  const commands = [
    resolveKeyRef(first, null),
    resolveKeyRef(first, "codex"),
    resolveKeyRef(other, null),
    resolveKeyRef({ ...other, key: "team" }, "default"),
  ].map((ref) => noKey(noSuchKey(ref, false)).command);
  assert.deepEqual(commands, [
    "tollkeeper key set",
    "tollkeeper key set codex",
    "tollkeeper key set --upstream other",
    "tollkeeper key set default --upstream other",
  ]);
});

test("a path that would hide the command, or make a tool try again, is not named in it", () => {
  assert.equal(configOptionOf(null), "");
  assert.equal(configOptionOf("/home/ada/it's mine.jsonc"), "--config '/home/ada/it'\\''s mine.jsonc'");
  assert.equal(configOptionOf(`/${"c".repeat(91)}`), "");
  assert.equal(configOptionOf("/home/ada/overloaded.jsonc"), "");
  assert.equal(configOptionOf("/home/user429/c.jsonc"), "");
});
