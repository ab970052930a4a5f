import assert from "node:assert/strict";
import { test } from "node:test";
import { problemsOf, withRoute, withUpstream } from "../../helpers/config/config-problems.ts";

const KEY = "sk-abc123";
const source = (keySource: unknown) => withUpstream({ keySource });

/** Values that are refused: where, and what the message must name for the reader to find the right value. */
const REFUSALS: [what: string, file: unknown, place: string, names: string[]][] = [
  ["a list instead of an object", [], "", []],
  ["a section that is not an object", { limits: 3 }, "limits", []],
  ["a port in quotes", { listen: { port: "8655" } }, "listen.port", []],
  ["a broken port", { listen: { port: 1.5 } }, "listen.port", []],
  ["a port above 65535", { listen: { port: 65_536 } }, "listen.port", ["65535"]],
  ["a port below 0", { listen: { port: -1 } }, "listen.port", ["0"]],
  [
    "a host with a scheme",
    { listen: { allowedHosts: ["http://a"] } },
    "listen.allowedHosts[0]",
    ['"host.docker.internal:8655"'],
  ],
  [
    "a host in capitals",
    { listen: { allowedHosts: ["a", "B:1"] } },
    "listen.allowedHosts[1]",
    ['"host.docker.internal:8655"'],
  ],
  [
    "the null origin",
    { listen: { allowedOrigins: ["null"] } },
    "listen.allowedOrigins[0]",
    ['"https://ide.example.com"'],
  ],
  [
    "an origin with a path",
    { listen: { allowedOrigins: ["https://a/"] } },
    "listen.allowedOrigins[0]",
    ['"https://ide.example.com"'],
  ],
  ["any origin", { listen: { allowedOrigins: "*" } }, "listen.allowedOrigins", []],
  ["a time that exceeds Node's timers", { abort: { graceMs: 3e9 } }, "abort.graceMs", ["2147483647"]],
  ["a body limit of 0", { limits: { bodyBytes: 0 } }, "limits.bodyBytes", ["1"]],
  ["a first byte limit of 0", { limits: { firstByteMs: 0 } }, "limits.firstByteMs", ["1"]],
  ["a note before the request", { ledger: { noteAfterMs: -1 } }, "ledger.noteAfterMs", ["0"]],
  ["a retention of 0 days", { ledger: { retainDays: 0 } }, "ledger.retainDays", ["1"]],
  ["a relative ledger", { ledger: { directory: "usage" } }, "ledger.directory", ['"~/"']],
  [
    "a proxy without a scheme",
    { outbound: { httpsProxy: "proxy.example:8080" } },
    "outbound.httpsProxy",
    ['"http://proxy.example.com:8080"', '"http://proxy.example:8080"'],
  ],
  ["a proxy that is not a string", { outbound: { httpsProxy: 8080 } }, "outbound.httpsProxy", []],
  ["all hosts in one string", { outbound: { noProxy: "a.example,b.example" } }, "outbound.noProxy", []],
  [
    "two hosts in one entry",
    { outbound: { noProxy: ["a.example", "b.example,c.example"] } },
    "outbound.noProxy[1]",
    [],
  ],
  ["a relative file of authorities", { outbound: { caFile: "ca.pem" } }, "outbound.caFile", ['"~/"']],
  [
    "the environment's name for the proxy",
    { outbound: { https_proxy: "http://proxy:1" } },
    "outbound.https_proxy",
    ['"https_proxy"', '"httpsProxy"'],
  ],
  ["an unknown access word", { access: "tokens" }, "access", ['"open"', '"token"']],
  ["a boolean access", { access: true }, "access", ['"open"', '"token"']],
  ["a list of access words", { access: ["token"] }, "access", ['"open"', '"token"']],
  ["an unknown access mode", { access: { mode: "key" } }, "access.mode", ['"open"', '"token"']],
  [
    "a misspelt key beside the access mode",
    { access: { mode: "token", peerUids: [] } },
    "access.peerUids",
    ['"peerUids"', '"peerUid"'],
  ],
  ["one uid without a list", { access: { peerUid: 1000 } }, "access.peerUid", []],
  ["a user by name", { access: { peerUid: ["ada"] } }, "access.peerUid[0]", []],
  ["a negative uid", { access: { peerUid: [0, -1] } }, "access.peerUid[1]", ["0"]],
  [
    "the uid that means no user",
    { access: { peerUid: [4_294_967_295] } },
    "access.peerUid[0]",
    ["4294967294"],
  ],
  ["an upstream without address", { upstreams: { default: {} } }, "upstreams.default.baseUrl", []],
  [
    "an address under a mistyped key, as one problem",
    { upstreams: { default: { baseURL: "https://api.example.com/v1" } } },
    "upstreams.default.baseURL",
    ['"baseURL"', '"baseUrl"'],
  ],
  ["a key name in capitals", withUpstream({ key: "Team" }), "upstreams.default.key", ["64"]],
  [
    "a key value for a key name",
    withUpstream({ key: KEY }),
    "upstreams.default.key",
    ['"default"', "tollkeeper key set"],
  ],
  [
    "32 letters for a key name",
    withUpstream({ key: "a".repeat(32) }),
    "upstreams.default.key",
    ['"default"', "tollkeeper key set"],
  ],
  [
    "a key value for a tool's key",
    { tools: { codex: { key: KEY } } },
    "tools.codex.key",
    ['"default"', "tollkeeper key set"],
  ],
  [
    "a key value for a credential",
    source({ credential: KEY }),
    "upstreams.default.keySource.credential",
    ["tollkeeper key set"],
  ],
  [
    "a key value under an unknown key",
    withUpstream({ apiKey: KEY }),
    "upstreams.default.apiKey",
    ["tollkeeper key set"],
  ],
  [
    "a path in place of a keySource",
    source("/run/secrets/key"),
    "upstreams.default.keySource",
    ['"file"', '"/run/secrets/key"'],
  ],
  [
    "another text in place of a keySource",
    source("pass show x"),
    "upstreams.default.keySource",
    ['"file"', '"~/key"'],
  ],
  ["a key in place of a keySource", source(KEY), "upstreams.default.keySource", ["tollkeeper key set"]],
  [
    "a command line in place of its words",
    source({ command: "pass show x" }),
    "upstreams.default.keySource.command",
    ['"pass"', '"show"', '"x"'],
  ],
  ["an empty keySource", source({}), "upstreams.default.keySource", ['"file"', '"command"', '"credential"']],
  [
    "two key sources",
    source({ file: "/k", credential: "K" }),
    "upstreams.default.keySource",
    ['"file"', '"command"', '"credential"'],
  ],
  [
    "a ttlMs without a command",
    source({ file: "/k", ttlMs: 60_000 }),
    "upstreams.default.keySource",
    ['"command"'],
  ],
  [
    "a timeoutMs without a command",
    source({ credential: "K", timeoutMs: 5_000 }),
    "upstreams.default.keySource",
    ['"timeoutMs"', '"command"'],
  ],
  [
    "a timeoutMs too long",
    source({ command: ["x"], timeoutMs: 30_001 }),
    "upstreams.default.keySource.timeoutMs",
    ["30000"],
  ],
  ["a ttlMs alone", source({ ttlMs: 60_000 }), "upstreams.default.keySource", ['"file"', '"command"']],
  [
    "a ttlMs too short",
    source({ command: ["x"], ttlMs: 9_999 }),
    "upstreams.default.keySource.ttlMs",
    ["10000"],
  ],
  [
    "a ttlMs in words",
    source({ command: ["x"], ttlMs: "1h" }),
    "upstreams.default.keySource.ttlMs",
    ["number"],
  ],
  ["a relative key file", source({ file: "key" }), "upstreams.default.keySource.file", ['"~/"']],
  ["an empty command", source({ command: [] }), "upstreams.default.keySource.command[0]", []],
  ["a command without a name", source({ command: [""] }), "upstreams.default.keySource.command[0]", []],
  [
    "a command in one string",
    source({ command: "pass x" }),
    "upstreams.default.keySource.command",
    ['"pass"', '"x"'],
  ],
  ["a credential with a path", source({ credential: "../k" }), "upstreams.default.keySource.credential", []],
  [
    "an unknown auth scheme",
    withUpstream({ countTokensAuth: "basic" }),
    "upstreams.default.countTokensAuth",
    ['"bearer"', '"x-api-key"', '"api-key"'],
  ],
  [
    "an unknown way to carry the key",
    withUpstream({ auth: "query" }),
    "upstreams.default.auth",
    ['"bearer"', '"x-api-key"', '"api-key"', '"none"'],
  ],
  [
    "a version that is not a date",
    withUpstream({ anthropicVersion: "latest" }),
    "upstreams.default.anthropicVersion",
    ['"2023-06-01"'],
  ],
  [
    "a word for a boolean",
    withUpstream({ inputIncludesCache: "yes" }),
    "upstreams.default.inputIncludesCache",
    [],
  ],
  [
    "a route without dialect",
    withRoute({ dialect: undefined }),
    "upstreams.default.routes[0].dialect",
    ['"messages"', '"responses"', '"chat"', '"none"'],
  ],
  [
    "a route for PUT",
    withRoute({ method: "PUT" }),
    "upstreams.default.routes[0].method",
    ['"GET"', '"POST"', '"DELETE"'],
  ],
  ["a relative route", withRoute({ path: "x" }), "upstreams.default.routes[0].path", ['"/"']],
  ["a route with a query", withRoute({ path: "/x?a" }), "upstreams.default.routes[0].path", []],
  [
    "a route with dot segments",
    withRoute({ path: "/x/../y" }),
    "upstreams.default.routes[0].path",
    ["0", "9", '"{id}"'],
  ],
  [
    "a route with an escape",
    withRoute({ path: "/x%2fy" }),
    "upstreams.default.routes[0].path",
    ["0", "9", '"{id}"'],
  ],
  [
    "a route with a trailing slash",
    withRoute({ path: "/x/" }),
    "upstreams.default.routes[0].path",
    ["0", "9", '"{id}"'],
  ],
  [
    "a route with two wild segments",
    withRoute({ path: "/x/{id}/{id}" }),
    "upstreams.default.routes[0].path",
    ['"{id}"'],
  ],
  ["a route that repeats /v1", withRoute({ path: "/v1/x" }), "upstreams.default.routes[0].path", ['"/v1"']],
  [
    "a route below /t",
    withRoute({ path: "/t/x" }),
    "upstreams.default.routes[0].path",
    ['"/t"', '"/_tollkeeper"'],
  ],
  [
    "a route below /_tollkeeper",
    withRoute({ path: "/_tollkeeper/x" }),
    "upstreams.default.routes[0].path",
    ['"/t"', '"/_tollkeeper"'],
  ],
  [
    "a wild route over a built-in one",
    withRoute({ path: "/messages/{id}" }),
    "upstreams.default.routes[0].path",
    [],
  ],
  ["a tool's name with a space", { tools: { "my tool": {} } }, 'tools["my tool"]', ["64"]],
  [
    "a tool that may use no upstream",
    { ...withUpstream({}), tools: { codex: { upstreams: [] } } },
    "tools.codex.upstreams",
    [],
  ],
  [
    "one upstream for a tool, not in a list",
    { ...withUpstream({}), tools: { codex: { upstreams: "default" } } },
    "tools.codex.upstreams",
    [],
  ],
  [
    "a fallback that does not exist",
    withUpstream({ fallback: ["defalt"] }),
    "upstreams.default.fallback[0]",
    ['"defalt"', '"default"'],
  ],
  [
    "an upstream that falls back to itself",
    withUpstream({ fallback: ["default"] }),
    "upstreams.default.fallback[0]",
    [],
  ],
  ["one fallback, not in a list", withUpstream({ fallback: "default" }), "upstreams.default.fallback", []],
  [
    "a fallback that is named twice",
    {
      upstreams: {
        a: { baseUrl: "https://a.example/v1", fallback: ["b", "b"] },
        b: { baseUrl: "https://b.example/v1" },
      },
    },
    "upstreams.a.fallback[1]",
    [],
  ],
  ["an alias of an alias", { aliases: { a: "b", b: "c" } }, "aliases.a", ['"b"']],
  ["an alias of itself", { aliases: { a: "a" } }, "aliases.a", []],
  [
    "a tool's alias of an alias of all",
    { aliases: { b: "c" }, tools: { zed: { aliases: { a: "b" } } } },
    "tools.zed.aliases.a",
    ['"b"'],
  ],
  ["an alias with a space", { aliases: { "a b": "c" } }, 'aliases["a b"]', ["1", "256"]],
  ["an empty pattern", withUpstream({ models: [""] }), "upstreams.default.models[0]", ['"*"']],
  [
    "an unknown API",
    withUpstream({ apis: ["chatty"] }),
    "upstreams.default.apis[0]",
    ['"messages"', '"responses"', '"chat"'],
  ],
  [
    "a credential among the headers",
    withUpstream({ headers: { "x-goog-api-key": "abc" } }),
    "upstreams.default.headers.x-goog-api-key",
    ["tollkeeper key set", '"auth"'],
  ],
  [
    "a key among the headers",
    withUpstream({ headers: { "x-team": KEY } }),
    "upstreams.default.headers.x-team",
    ["tollkeeper key set"],
  ],
  [
    "a header that tollkeeper sets",
    withUpstream({ headers: { "content-length": "1" } }),
    "upstreams.default.headers.content-length",
    [],
  ],
  [
    "a header with a line break",
    withUpstream({ headers: { "x-title": "a\r\nhost: b" } }),
    "upstreams.default.headers.x-title",
    ["1", "512"],
  ],
  [
    "a header's name in capitals",
    withUpstream({ headers: { "X-Title": "a" } }),
    "upstreams.default.headers.X-Title",
    ["0", "9"],
  ],
  [
    "a credential in the query",
    withUpstream({ query: { api_key: "abc" } }),
    "upstreams.default.query.api_key",
    ['"auth"'],
  ],
  [
    "a key in the query",
    withUpstream({ query: { version: KEY } }),
    "upstreams.default.query.version",
    ["tollkeeper key set"],
  ],
  [
    "a key as the name of an allowed parameter",
    withUpstream({ allowQuery: ["sig", KEY] }),
    "upstreams.default.allowQuery[1]",
    ["tollkeeper key set"],
  ],
  [
    "an allowed parameter without a name",
    withUpstream({ allowQuery: [""] }),
    "upstreams.default.allowQuery[0]",
    ["1", "64"],
  ],
  [
    "a query with a space",
    withUpstream({ query: { version: "a b" } }),
    "upstreams.default.query.version",
    ["1", "256"],
  ],
  [
    "a tool with an unknown upstream",
    { tools: { codex: { upstreams: ["gate"] } } },
    "tools.codex.upstreams[0]",
    ['"gate"', "upstreams"],
  ],
  [
    "a misspelt upstream",
    { ...withUpstream({}), tools: { codex: { upstreams: ["defualt"] } } },
    "tools.codex.upstreams[0]",
    ['"defualt"', '"default"'],
  ],
  [
    "a group that nobody defines",
    { groups: { small: {} }, tools: { codex: { group: "smal" } } },
    "tools.codex.group",
    ['"smal"', '"small"'],
  ],
  [
    "a group for all others that nobody defines",
    { tools: { "*": { group: "small" } } },
    'tools["*"].group',
    ['"small"', "groups"],
  ],
  ["anything else for all others", { tools: { "*": { key: "other" } } }, 'tools["*"].key', ['"key"']],
  ["a group without any model", { groups: { small: { models: [] } } }, "groups.small.models", []],
  [
    "the key of a group at an upstream that has only its own",
    { ...withUpstream({ keySource: { file: "/k" } }), groups: { small: { key: "small" } } },
    "groups.small.key",
    [],
  ],
  ["a bad name of a group", { groups: { "Small ones": {} } }, 'groups["Small ones"]', ["64"]],
  ["a misspelt key", { listen: { prot: 1 } }, "listen.prot", ['"prot"', '"port"']],
  ["a key in another case", { Listen: {} }, "Listen", ['"Listen"', '"listen"']],
  [
    "a misspelt key in a list",
    withRoute({ spnd: "never" }),
    "upstreams.default.routes[0].spnd",
    ['"spnd"', '"spend"'],
  ],
  ["a key of another release", { mirror: {} }, "mirror", ['"mirror"', "listen", "budgets", "export"]],
  [
    "a name in place of a uid",
    { export: { metrics: { peerUid: ["prometheus"] } } },
    "export.metrics.peerUid[0]",
    [],
  ],
];

/** It has the form of a known service's. */
const TOKEN = `glpat-${"ab1".repeat(6)}`;

const { upstreams } = withUpstream({});

/** Where a name or a text may be that goes into records, views and messages. */
const KEYS_AS_TEXTS: [what: string, file: unknown, place: string][] = [
  ["a tool", { tools: { [TOKEN]: {} } }, "tools.[hidden]"],
  ["a group", { groups: { [TOKEN]: {} } }, "groups.[hidden]"],
  ["an upstream", { upstreams: { ...upstreams, [TOKEN]: upstreams.default } }, "upstreams.[hidden]"],
  ["a key", withUpstream({ key: TOKEN }), "upstreams.default.key"],
  ["a group's model", { groups: { small: { models: [TOKEN] } } }, "groups.small.models[0]"],
  ["a model", { aliases: { small: TOKEN } }, "aliases.small"],
  [
    "a header's value",
    withUpstream({ headers: { "x-team": `a ${TOKEN}` } }),
    "upstreams.default.headers.x-team",
  ],
];

for (const [what, file, place] of KEYS_AS_TEXTS) {
  test(`reports a key of a known form in place of ${what}, says where keys belong, and never shows it`, () => {
    const problems = problemsOf(file);
    const own = problems.filter((problem) => problem.startsWith(`${place}: `));
    assert.ok(
      own.some((problem) => problem.endsWith("type: tollkeeper key set")),
      problems.join("\n"),
    );
    assert.ok(!problems.join().includes(TOKEN));
  });
}

for (const [what, file, place, names] of REFUSALS) {
  test(`reports ${what} as the only problem, where it is${names.length > 0 ? `, and names ${names.join(" and ")}` : ""}`, () => {
    const [problem = "no problem", ...others] = problemsOf(file);
    assert.deepEqual(others, []);
    assert.ok(problem.startsWith(`${place}: `), problem);
    assert.deepEqual(
      names.filter((name) => !problem.slice(place.length).includes(name)),
      [],
      problem,
    );
    assert.ok(!problem.includes(KEY), problem);
  });
}
