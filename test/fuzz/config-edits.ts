import * as fc from "fast-check";
import { splitWords } from "./words.ts";

/** A valid configuration that uses every section. */
const GOOD = {
  $schema: "./schema.json",
  listen: {
    port: 8655,
    allowedHosts: ["host.docker.internal:8655"],
    allowedOrigins: ["vscode-webview://abc"],
  },
  access: { mode: "token", peerUid: [1000] },
  upstreams: {
    default: {
      baseUrl: "https://api.example.com/v1",
      key: "default",
      keySource: { command: ["pass", "show", "x"] },
      countTokensAuth: "bearer",
      anthropicVersion: "2023-06-01",
      inputIncludesCache: true,
      allowQuery: ["sig"],
      routes: [
        { method: "GET", path: "/responses/{id}", auth: "bearer", dialect: "responses", spend: "never" },
      ],
    },
    "my.gateway": { baseUrl: "http://127.0.0.1:4000/api/v1", keySource: { file: "~/key" } },
  },
  tools: {
    codex: { upstreams: ["my.gateway"], budgets: [{ tokens: 5, class: "output", rolling: 5, warn: [0.5] }] },
    "claude-code": { key: "default" },
  },
  keys: { default: { budgets: [{ usd: 20.5, per: "month", action: "warn", unpriced: "allow" }] } },
  budgets: [{ usd: 3, per: "day", notify: true }],
  outbound: {
    httpsProxy: "http://proxy.example:8080",
    noProxy: [".example.com:443", "10.0.0.0/8"],
    caFile: null,
  },
  ledger: { directory: "~/ledger", retainDays: 30, noteAfterMs: 500, project: true },
  abort: { graceMs: 0 },
  limits: { bodyBytes: 1000, firstByteMs: 1, betweenBytesMs: 5, drainMs: 0 },
};

/** {@link GOOD} or any of its sections that are valid on their own. */
export const goodConfig: fc.Arbitrary<Partial<typeof GOOD>> = fc
  .subarray(Object.keys(GOOD) as (keyof typeof GOOD)[])
  .map((names) => {
    const config = Object.fromEntries(names.map((name) => [name, GOOD[name]])) as Partial<typeof GOOD>;
    // Tools refer to upstreams.
    return names.includes("tools") ? { ...config, upstreams: GOOD.upstreams } : config;
  });

/** Looks like a key and must therefore not appear in any message. */
export const KEY_LIKE = "sk-live-0123456789abcdef0123456789abcdef";

const NAMES = [
  ...splitWords(`port prot baseUrl baseurl default upstreams listen key file toString __proto__ constructor prototype
    hasOwnProperty 0`),
  "",
  "a b",
  "\u001b[2J",
  "\u202e",
  KEY_LIKE,
];

const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    0,
    -1,
    1.5,
    1e300,
    "",
    "default",
    "http://evil.example/v1",
    KEY_LIKE,
    [],
    {},
  ),
  fc.constantFrom<unknown>(
    { __proto__: { polluted: true } },
    { file: "/x", command: ["x"] },
    [{ method: "POST", path: "/messages", auth: "bearer", dialect: "none" }],
    `https://${KEY_LIKE}@api.example.com/v1`,
    `https://api.example.com/v1?key=${KEY_LIKE}`,
    `https://api.example.com/${KEY_LIKE}/v1/messages`,
    `http://${KEY_LIKE}:${KEY_LIKE}@proxy.example:8080/`,
  ),
  fc.json({ maxDepth: 3 }).map((text) => JSON.parse(text) as unknown),
);

/** A change at one place of the configuration. Numbers are taken modulo the number of members. */
interface Edit {
  steps: number[];
  act: "replace" | "remove" | "rename" | "add";
  name: string;
  value: unknown;
}

const edit: fc.Arbitrary<Edit> = fc.record({
  steps: fc.array(fc.nat(20), { minLength: 1, maxLength: 5 }),
  act: fc.constantFrom("replace", "remove", "rename", "add"),
  name: fc.oneof(fc.constantFrom(...NAMES), fc.string({ unit: "binary", maxLength: 8 })),
  value,
});

/** {@link GOOD} with a few changes: often still valid, always similar. */
export const editedConfig: fc.Arbitrary<unknown> = fc
  .array(edit, { maxLength: 4 })
  .map((edits) => edits.reduce<unknown>((config, one) => applyEdit(config, one, 0), GOOD));

/** Returns a new value. A name such as `__proto__` becomes an own property. */
function applyEdit(config: unknown, one: Edit, depth: number): unknown {
  if (typeof config !== "object" || config === null) return one.value;
  const entries = Object.entries(config);
  const at = entries.length === 0 ? 0 : (one.steps[depth] ?? 0) % entries.length;
  const isHere = depth === one.steps.length - 1 || entries.length === 0;
  const changed = entries.flatMap(([name, below], i): [string, unknown][] => {
    if (i !== at) return [[name, below]];
    return isHere ? act(name, below, one) : [[name, applyEdit(below, one, depth + 1)]];
  });
  if (entries.length === 0) changed.push([one.name, one.value]);
  return Array.isArray(config) ? changed.map(([, item]) => item) : Object.fromEntries(changed);
}

function act(name: string, below: unknown, one: Edit): [string, unknown][] {
  switch (one.act) {
    case "replace":
      return [[name, one.value]];
    case "remove":
      return [];
    case "rename":
      return [[one.name, below]];
    case "add":
      return [
        [name, below],
        [one.name, one.value],
      ];
  }
}
