import assert from "node:assert/strict";
import { test } from "node:test";
import { problemsOf, withRoute, withUpstream } from "../../helpers/config/config-problems.ts";

const KEY = "sk-abc123";
const KEY_VALUE =
  "a key never belongs in this file; remove it, and revoke it if others could read the file; then type: tollkeeper key set";
const KEY_AS_NAME =
  'a key never belongs in this file; replace it with a name such as "default", then type: tollkeeper key set';
const NAME = 'a name has 1 to 64 characters of a-z, 0-9, ".", "_" and "-", and starts with a letter or digit';

const source = (keySource: unknown) => withUpstream({ keySource });

const ONE_OF = 'must contain exactly one of "file", "command" and "credential"';
const ACCESS = 'must be "open" or "token", or an object: { ... }';
const SEGMENTS = 'its segments may contain only A-Z, a-z, 0-9, ".", "_" and "-", or be "{id}"';
const HOST = 'must be a host in lower case, with its port if it has one, such as "host.docker.internal:8655"';
const ORIGIN =
  'must be an origin, scheme://host[:port] in lower case with nothing after it, such as "https://ide.example.com"';
const TAKEN = 'must not start with "/t" or "/_tollkeeper", which tollkeeper handles itself';

const REFUSALS: [what: string, file: unknown, problem: string][] = [
  ["a list instead of an object", [], ": must be an object: { ... }"],
  ["a section that is not an object", { limits: 3 }, "limits: must be an object: { ... }"],
  ["a port in quotes", { listen: { port: "8655" } }, "listen.port: must be a whole number"],
  ["a broken port", { listen: { port: 1.5 } }, "listen.port: must be a whole number"],
  ["a port above 65535", { listen: { port: 65_536 } }, "listen.port: must be at most 65535"],
  ["a port below 0", { listen: { port: -1 } }, "listen.port: must be at least 0"],
  ["a host with a scheme", { listen: { allowedHosts: ["http://a"] } }, `listen.allowedHosts[0]: ${HOST}`],
  ["a host in capitals", { listen: { allowedHosts: ["a", "B:1"] } }, `listen.allowedHosts[1]: ${HOST}`],
  ["the null origin", { listen: { allowedOrigins: ["null"] } }, `listen.allowedOrigins[0]: ${ORIGIN}`],
  [
    "an origin with a path",
    { listen: { allowedOrigins: ["https://a/"] } },
    `listen.allowedOrigins[0]: ${ORIGIN}`,
  ],
  ["any origin", { listen: { allowedOrigins: "*" } }, "listen.allowedOrigins: must be a list: [ ... ]"],
  [
    "a time that exceeds Node's timers",
    { abort: { graceMs: 3e9 } },
    "abort.graceMs: must be at most 2147483647",
  ],
  ["a body limit of 0", { limits: { bodyBytes: 0 } }, "limits.bodyBytes: must be at least 1"],
  ["a first byte limit of 0", { limits: { firstByteMs: 0 } }, "limits.firstByteMs: must be at least 1"],
  ["a note before the request", { ledger: { noteAfterMs: -1 } }, "ledger.noteAfterMs: must be at least 0"],
  ["a retention of 0 days", { ledger: { retainDays: 0 } }, "ledger.retainDays: must be at least 1"],
  [
    "a relative ledger",
    { ledger: { directory: "usage" } },
    'ledger.directory: must be an absolute path, or start with "~/"',
  ],
  [
    "a proxy without a scheme",
    { outbound: { httpsProxy: "proxy.example:8080" } },
    'outbound.httpsProxy: must be the address of an HTTP proxy such as "http://proxy.example.com:8080"; did you mean "http://proxy.example:8080"?',
  ],
  [
    "a proxy that is not a string",
    { outbound: { httpsProxy: 8080 } },
    "outbound.httpsProxy: must be a string",
  ],
  [
    "all hosts in one string",
    { outbound: { noProxy: "a.example,b.example" } },
    "outbound.noProxy: must be a list: [ ... ]",
  ],
  [
    "two hosts in one entry",
    { outbound: { noProxy: ["a.example", "b.example,c.example"] } },
    "outbound.noProxy[1]: must be one host; write each host as a separate string",
  ],
  [
    "a relative file of authorities",
    { outbound: { caFile: "ca.pem" } },
    'outbound.caFile: must be an absolute path, or start with "~/"',
  ],
  [
    "the environment's name for the proxy",
    { outbound: { https_proxy: "http://proxy:1" } },
    'outbound.https_proxy: unknown key "https_proxy"; did you mean "httpsProxy"?',
  ],
  ["an unknown access word", { access: "tokens" }, `access: ${ACCESS}`],
  ["a boolean access", { access: true }, `access: ${ACCESS}`],
  ["a list of access words", { access: ["token"] }, `access: ${ACCESS}`],
  ["an unknown access mode", { access: { mode: "key" } }, 'access.mode: must be "open" or "token"'],
  [
    "a misspelt key beside the access mode",
    { access: { mode: "token", peerUids: [] } },
    'access.peerUids: unknown key "peerUids"; did you mean "peerUid"?',
  ],
  ["one uid without a list", { access: { peerUid: 1000 } }, "access.peerUid: must be a list: [ ... ]"],
  ["a user by name", { access: { peerUid: ["ada"] } }, "access.peerUid[0]: must be a whole number"],
  ["a negative uid", { access: { peerUid: [0, -1] } }, "access.peerUid[1]: must be at least 0"],
  [
    "the uid that means no user",
    { access: { peerUid: [4_294_967_295] } },
    "access.peerUid[0]: must be at most 4294967294",
  ],
  ["an upstream without address", { upstreams: { default: {} } }, "upstreams.default.baseUrl: is missing"],
  [
    "an address under a mistyped key, as one problem",
    { upstreams: { default: { baseURL: "https://api.example.com/v1" } } },
    'upstreams.default.baseURL: unknown key "baseURL"; did you mean "baseUrl"?',
  ],
  ["a key name in capitals", withUpstream({ key: "Team" }), `upstreams.default.key: ${NAME}`],
  ["a key value for a key name", withUpstream({ key: KEY }), `upstreams.default.key: ${KEY_AS_NAME}`],
  [
    "32 letters for a key name",
    withUpstream({ key: "a".repeat(32) }),
    `upstreams.default.key: ${KEY_AS_NAME}`,
  ],
  ["a key value for a tool's key", { tools: { codex: { key: KEY } } }, `tools.codex.key: ${KEY_AS_NAME}`],
  [
    "a key value for a credential",
    source({ credential: KEY }),
    `upstreams.default.keySource.credential: ${KEY_VALUE}`,
  ],
  [
    "a key value under an unknown key",
    withUpstream({ apiKey: KEY }),
    `upstreams.default.apiKey: ${KEY_VALUE}`,
  ],
  [
    "a path in place of a keySource",
    source("/run/secrets/key"),
    'upstreams.default.keySource: must be an object, such as { "file": "/run/secrets/key" }',
  ],
  [
    "another text in place of a keySource",
    source("pass show x"),
    'upstreams.default.keySource: must be an object, such as { "file": "~/key" }',
  ],
  ["a key in place of a keySource", source(KEY), `upstreams.default.keySource: ${KEY_VALUE}`],
  [
    "a command line in place of its words",
    source({ command: "pass show x" }),
    'upstreams.default.keySource.command: must be a list of words: ["pass","show","x"]',
  ],
  ["an empty keySource", source({}), `upstreams.default.keySource: ${ONE_OF}`],
  ["two key sources", source({ file: "/k", credential: "K" }), `upstreams.default.keySource: ${ONE_OF}`],
  [
    "a relative key file",
    source({ file: "key" }),
    'upstreams.default.keySource.file: must be an absolute path, or start with "~/"',
  ],
  ["an empty command", source({ command: [] }), "upstreams.default.keySource.command[0]: is missing"],
  [
    "a command without a name",
    source({ command: [""] }),
    "upstreams.default.keySource.command[0]: must not be empty",
  ],
  [
    "a command in one string",
    source({ command: "pass x" }),
    'upstreams.default.keySource.command: must be a list of words: ["pass","x"]',
  ],
  [
    "a credential with a path",
    source({ credential: "../k" }),
    "upstreams.default.keySource.credential: must be the name of a credential, not a path",
  ],
  [
    "an unknown auth scheme",
    withUpstream({ countTokensAuth: "basic" }),
    'upstreams.default.countTokensAuth: must be "bearer" or "x-api-key" or "api-key"',
  ],
  [
    "an unknown way to carry the key",
    withUpstream({ auth: "query" }),
    'upstreams.default.auth: must be "bearer" or "x-api-key" or "api-key" or "none", or an object: { ... }',
  ],
  [
    "a version that is not a date",
    withUpstream({ anthropicVersion: "latest" }),
    'upstreams.default.anthropicVersion: must be a date such as "2023-06-01"',
  ],
  [
    "a word for a boolean",
    withUpstream({ inputIncludesCache: "yes" }),
    "upstreams.default.inputIncludesCache: must be true or false",
  ],
  [
    "a route without dialect",
    withRoute({ dialect: undefined }),
    'upstreams.default.routes[0].dialect: is missing; it is "messages" or "responses" or "chat" or "none"',
  ],
  [
    "a route for DELETE",
    withRoute({ method: "DELETE" }),
    'upstreams.default.routes[0].method: must be "GET" or "POST"',
  ],
  ["a relative route", withRoute({ path: "x" }), 'upstreams.default.routes[0].path: must start with "/"'],
  [
    "a route with a query",
    withRoute({ path: "/x?a" }),
    "upstreams.default.routes[0].path: must not contain a query; queries are always forwarded",
  ],
  [
    "a route with dot segments",
    withRoute({ path: "/x/../y" }),
    `upstreams.default.routes[0].path: ${SEGMENTS}`,
  ],
  ["a route with an escape", withRoute({ path: "/x%2fy" }), `upstreams.default.routes[0].path: ${SEGMENTS}`],
  [
    "a route with a trailing slash",
    withRoute({ path: "/x/" }),
    `upstreams.default.routes[0].path: ${SEGMENTS}`,
  ],
  [
    "a route with two wild segments",
    withRoute({ path: "/x/{id}/{id}" }),
    'upstreams.default.routes[0].path: only one segment may be "{id}"',
  ],
  [
    "a route that repeats /v1",
    withRoute({ path: "/v1/x" }),
    'upstreams.default.routes[0].path: is already relative to "/v1"; remove the leading "/v1"',
  ],
  ["a route below /t", withRoute({ path: "/t/x" }), `upstreams.default.routes[0].path: ${TAKEN}`],
  [
    "a route below /_tollkeeper",
    withRoute({ path: "/_tollkeeper/x" }),
    `upstreams.default.routes[0].path: ${TAKEN}`,
  ],
  [
    "a wild route over a built-in one",
    withRoute({ path: "/messages/{id}" }),
    "upstreams.default.routes[0].path: matches the same requests as the built-in POST /messages/count_tokens; remove it",
  ],
  ["a tool's name with a space", { tools: { "my tool": {} } }, `tools["my tool"]: ${NAME}`],
  [
    "a tool that may use no upstream",
    { ...withUpstream({}), tools: { codex: { upstreams: [] } } },
    "tools.codex.upstreams: allows no upstream, so that the tool could request nothing; name one, or remove the list",
  ],
  [
    "one upstream for a tool, not in a list",
    { ...withUpstream({}), tools: { codex: { upstreams: "default" } } },
    "tools.codex.upstreams: must be a list: [ ... ]",
  ],
  [
    "a fallback that does not exist",
    withUpstream({ fallback: ["defalt"] }),
    'upstreams.default.fallback[0]: no upstream is called "defalt"; did you mean "default"?',
  ],
  [
    "an upstream that falls back to itself",
    withUpstream({ fallback: ["default"] }),
    "upstreams.default.fallback[0]: an upstream cannot be its own fallback; name another",
  ],
  [
    "one fallback, not in a list",
    withUpstream({ fallback: "default" }),
    "upstreams.default.fallback: must be a list: [ ... ]",
  ],
  [
    "a fallback that is named twice",
    {
      upstreams: {
        a: { baseUrl: "https://a.example/v1", fallback: ["b", "b"] },
        b: { baseUrl: "https://b.example/v1" },
      },
    },
    "upstreams.a.fallback[1]: is named twice; remove one",
  ],
  [
    "an alias of an alias",
    { aliases: { a: "b", b: "c" } },
    'aliases.a: "b" is itself an alias; name the model that it stands for',
  ],
  [
    "an alias of itself",
    { aliases: { a: "a" } },
    "aliases.a: an alias cannot stand for itself; name another model",
  ],
  [
    "a tool's alias of an alias of all",
    { aliases: { b: "c" }, tools: { zed: { aliases: { a: "b" } } } },
    'tools.zed.aliases.a: "b" is itself an alias; name the model that it stands for',
  ],
  [
    "an alias with a space",
    { aliases: { "a b": "c" } },
    'aliases["a b"]: must have 1 to 256 printable ASCII characters, no spaces',
  ],
  [
    "an empty pattern",
    withUpstream({ models: [""] }),
    'upstreams.default.models[0]: must not be empty; "*" stands for any characters',
  ],
  [
    "an unknown API",
    withUpstream({ apis: ["chatty"] }),
    'upstreams.default.apis[0]: must be "messages" or "responses" or "chat"',
  ],
  [
    "a credential among the headers",
    withUpstream({ headers: { "x-goog-api-key": "abc" } }),
    'upstreams.default.headers.x-goog-api-key: looks like a credential, and a key never belongs in this file; store it with `tollkeeper key set`, and see "auth"',
  ],
  [
    "a key among the headers",
    withUpstream({ headers: { "x-team": KEY } }),
    `upstreams.default.headers.x-team: ${KEY_VALUE}`,
  ],
  [
    "a header that tollkeeper sets",
    withUpstream({ headers: { "content-length": "1" } }),
    "upstreams.default.headers.content-length: tollkeeper sets this header itself; remove it",
  ],
  [
    "a header with a line break",
    withUpstream({ headers: { "x-title": "a\r\nhost: b" } }),
    "upstreams.default.headers.x-title: must have 1 to 512 printable ASCII characters",
  ],
  [
    "a header's name in capitals",
    withUpstream({ headers: { "X-Title": "a" } }),
    "upstreams.default.headers.X-Title: a header name may contain only a-z, 0-9 and -",
  ],
  [
    "a credential in the query",
    withUpstream({ query: { api_key: "abc" } }),
    'upstreams.default.query.api_key: looks like a credential, and a key never belongs in a query, which logs contain; see "auth"',
  ],
  [
    "a key in the query",
    withUpstream({ query: { version: KEY } }),
    `upstreams.default.query.version: ${KEY_VALUE}`,
  ],
  [
    "a key as the name of an allowed parameter",
    withUpstream({ allowQuery: ["sig", KEY] }),
    `upstreams.default.allowQuery[1]: ${KEY_VALUE}`,
  ],
  [
    "an allowed parameter without a name",
    withUpstream({ allowQuery: [""] }),
    "upstreams.default.allowQuery[0]: must be a name of 1 to 64 printable ASCII characters, no spaces",
  ],
  [
    "a query with a space",
    withUpstream({ query: { version: "a b" } }),
    "upstreams.default.query.version: must have 1 to 256 printable ASCII characters, no spaces",
  ],
  [
    "a tool with an unknown upstream",
    { tools: { codex: { upstreams: ["gate"] } } },
    'tools.codex.upstreams[0]: no upstream is called "gate"; name one of `upstreams`',
  ],
  [
    "a misspelt upstream",
    { ...withUpstream({}), tools: { codex: { upstreams: ["defualt"] } } },
    'tools.codex.upstreams[0]: no upstream is called "defualt"; did you mean "default"?',
  ],
  [
    "a group that nobody defines",
    { groups: { small: {} }, tools: { codex: { group: "smal" } } },
    'tools.codex.group: no group is called "smal"; did you mean "small"?',
  ],
  [
    "a group for all others that nobody defines",
    { tools: { "*": { group: "small" } } },
    'tools["*"].group: no group is called "small"; name one of `groups`',
  ],
  [
    "anything else for all others",
    { tools: { "*": { key: "other" } } },
    'tools["*"].key: unknown key "key"; known here: group',
  ],
  [
    "a group without any model",
    { groups: { small: { models: [] } } },
    "groups.small.models: allows no model, so that its tools could request nothing; name one, or remove the list",
  ],
  [
    "the key of a group at an upstream that has only its own",
    { ...withUpstream({ keySource: { file: "/k" } }), groups: { small: { key: "small" } } },
    "groups.small.key: this upstream's keySource has only one key; remove the key here, or add an upstream with its own keySource",
  ],
  [
    "a bad name of a group",
    { groups: { "Small ones": {} } },
    'groups["Small ones"]: a name has 1 to 64 characters of a-z, 0-9, ".", "_" and "-", and starts with a letter or digit',
  ],
  ["a misspelt key", { listen: { prot: 1 } }, 'listen.prot: unknown key "prot"; did you mean "port"?'],
  ["a key in another case", { Listen: {} }, 'Listen: unknown key "Listen"; did you mean "listen"?'],
  [
    "a misspelt key in a list",
    withRoute({ spnd: "never" }),
    'upstreams.default.routes[0].spnd: unknown key "spnd"; did you mean "spend"?',
  ],
  [
    "a key of another release",
    { mirror: {} },
    'mirror: unknown key "mirror"; known here: $schema, listen, access, upstreams, tools, groups, projects, keys, budgets, aliases, prices, priceTable, outbound, ledger, export, abort, limits',
  ],
  [
    "a name in place of a uid",
    { export: { metrics: { peerUid: ["prometheus"] } } },
    "export.metrics.peerUid[0]: must be a whole number",
  ],
];

/** It has the form of a known service's. */
const TOKEN = `glpat-${"ab1".repeat(6)}`;

const { upstreams } = withUpstream({});

/** Where a name or a text may be that goes into records, views and messages. */
const KEYS_AS_TEXTS: [what: string, file: unknown, place: string, problem: string][] = [
  ["a tool", { tools: { [TOKEN]: {} } }, "tools.[hidden]", KEY_AS_NAME],
  ["a group", { groups: { [TOKEN]: {} } }, "groups.[hidden]", KEY_AS_NAME],
  [
    "an upstream",
    { upstreams: { ...upstreams, [TOKEN]: upstreams.default } },
    "upstreams.[hidden]",
    KEY_AS_NAME,
  ],
  ["a key", withUpstream({ key: TOKEN }), "upstreams.default.key", KEY_AS_NAME],
  ["a group's model", { groups: { small: { models: [TOKEN] } } }, "groups.small.models[0]", KEY_VALUE],
  ["a model", { aliases: { small: TOKEN } }, "aliases.small", KEY_VALUE],
  [
    "a header's value",
    withUpstream({ headers: { "x-team": `a ${TOKEN}` } }),
    "upstreams.default.headers.x-team",
    KEY_VALUE,
  ],
];

for (const [what, file, place, problem] of KEYS_AS_TEXTS) {
  test(`reports a key of a known form in place of ${what}, and never shows it`, () => {
    const problems = problemsOf(file);
    assert.ok(problems.includes(`${place}: ${problem}`), problems.join("\n"));
    assert.ok(!problems.join().includes(TOKEN));
  });
}

for (const [what, file, problem] of REFUSALS) {
  test(`reports ${what} as the only problem`, () => {
    assert.deepEqual(problemsOf(file), [problem]);
  });
}
