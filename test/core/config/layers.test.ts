import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { parseConfigPath } from "../../../src/core/config/config-path.ts";
import { checkLayers } from "../../../src/core/config/layers.ts";
import { mergeConfigs, readManaged } from "../../../src/core/config/managed.ts";
import { formatConfigPath } from "../../../src/core/config/problem.ts";
import { valueAt } from "../../../src/core/config/rules.ts";
import { listSettings } from "../../../src/core/config/settings.ts";

const MANAGED = "/etc/tollkeeper/config.jsonc";
const check = (user: unknown, managed: unknown) => checkLayers(user, managed, MANAGED, "/home/ada");
const at = (path: string) => parseConfigPath(path) ?? assert.fail(path);
const corp = { baseUrl: "https://gw.example/v1" };
const withSource = (keySource: object) => ({ upstreams: { corp: { ...corp, keySource } } });
const unknown = (name: string) =>
  `the configuration has no ${name}; write a path such as "upstreams.default.baseUrl"`;

const textsOf = (issues: readonly { path: (string | number)[]; message: string; isManaged: boolean }[]) =>
  issues.map(
    ({ path, message, isManaged }) =>
      `${isManaged ? "managed" : "own"} ${formatConfigPath(path)}: ${message}`,
  );

test("merges objects member by member, and replaces lists and everything else", () => {
  const user = { listen: { port: 1, allowedHosts: ["a"] }, access: "open" };
  const managed = {
    listen: { allowedHosts: ["b", "c"], allowedOrigins: ["d://e"] },
    access: { mode: "token" },
  };
  assert.deepEqual(mergeConfigs(user, readManaged(managed)).value, {
    listen: { port: 1, allowedHosts: ["a"], allowedOrigins: ["d://e"] },
    access: "open",
  });
});

test("replaces keySource as a whole, because its members exclude each other", () => {
  const { config } = check(withSource({ command: ["pass", "x"] }), withSource({ file: "/k" }));
  assert.deepEqual(config?.upstreams["corp"]?.keySource, { kind: "command", argv: ["pass", "x"] });
});

test("puts the user's upstreams first, in the file's order, and after them those that only the managed file has", () => {
  const managed = { upstreams: { one: corp, two: corp, three: corp } };
  const order = (user: object) => Object.keys(check({ upstreams: user }, managed).config?.upstreams ?? {});
  assert.deepEqual(order({ mine: corp }), ["mine", "one", "two", "three"]);
  assert.deepEqual(order({ three: {}, mine: corp }), ["three", "mine", "one", "two"]);
});

test("uses the managed value of a locked key, and reports the user's own", () => {
  const managed = { locked: ["access", "upstreams.corp"], access: "token", upstreams: { corp } };
  const user = { access: { mode: "open" }, upstreams: { corp: { baseUrl: "https://other.example/v1" } } };
  const { config, issues, overruled } = check(user, managed);
  assert.deepEqual(issues, []);
  assert.equal(config?.access.mode, "token");
  assert.equal(config.upstreams["corp"]?.origin, "https://gw.example");
  assert.deepEqual(textsOf(overruled), [
    `own access: is not used: ${MANAGED} locks it; remove it here`,
    `own upstreams.corp: is not used: ${MANAGED} locks it; remove it here`,
  ]);
});

test("a key that is locked without a value has its default", () => {
  const { config, overruled } = check({ limits: { drainMs: 1 } }, { locked: ["limits.drainMs"] });
  assert.equal(config?.limits.drainMs, 30_000);
  assert.equal(overruled.length, 1);
});

test("a short form in the user's file does not replace an object of which a part is locked", () => {
  const managed = { locked: ["access.mode"], access: { mode: "token" } };
  for (const access of ["open", null, [], 1]) {
    const { config, overruled } = check({ access }, managed);
    assert.equal(config?.access.mode, "token", JSON.stringify(access));
    assert.equal(overruled.length, 1);
  }
  const { config, overruled } = check({ access: { peerUid: [7] } }, managed);
  assert.deepEqual([config?.access, overruled], [{ mode: "token", peerUid: [7] }, []]);
});

test("what is valid only together with an overruled value is not used either, and does not keep the daemon from starting", () => {
  const managed = { locked: ["upstreams", "groups"], upstreams: { corp } };
  const user = {
    upstreams: { mine: corp },
    groups: { small: {} },
    tools: { codex: { upstreams: ["mine"], group: "small", aliases: { a: "b" } } },
  };
  const { config, issues, overruled } = check(user, managed);
  assert.deepEqual(issues, []);
  assert.deepEqual(config?.tools["codex"], {
    ...config?.tools["codex"],
    upstreams: null,
    group: null,
    aliases: { a: "b" },
  });
  assert.match(
    textsOf(overruled).join("\n"),
    /own tools\.codex\.upstreams\[0\]: no upstream is called "mine"/,
  );
  assert.equal(overruled.length, 4);
});

test("a mistake of the user's own is never left out because something else is locked", () => {
  const managed = { locked: ["upstreams"], upstreams: { corp } };
  const user = { upstreams: { mine: corp }, access: "tokne", tools: { codex: { upstreams: ["mine"] } } };
  const { config, issues } = check(user, managed);
  assert.equal(config, null);
  assert.ok(textsOf(issues).some((text) => text.startsWith("own access: ")));
});

test("refuses locks that name nothing, a part of a list, or what the managed file has no object for", () => {
  const { issues } = check(
    {},
    {
      locked: [
        "nope",
        "upstreams.",
        "budgets[0].usd",
        "access.mode",
        "upstreams.a.keySource.file",
        "a b",
        '["\\x"]',
        "__proto__.a",
      ],
      access: "token",
    },
  );
  assert.deepEqual(textsOf(issues), [
    `managed locked[0]: ${unknown("nope")}`,
    `managed locked[1]: ${unknown("upstreams.")}`,
    "managed locked[2]: budgets is replaced as a whole; lock that instead",
    "managed locked[3]: access is replaced as a whole; lock that instead",
    "managed locked[4]: upstreams.a.keySource is replaced as a whole; lock that instead",
    `managed locked[5]: ${unknown("a b")}`,
    `managed locked[6]: ${unknown('["\\x"]')}`,
    `managed locked[7]: ${unknown("__proto__.a")}`,
  ]);
});

test("only the managed file can lock, and it must be an object", () => {
  assert.deepEqual(textsOf(check({ locked: [] }, undefined).issues), [
    `own locked: only the managed configuration file, ${MANAGED}, can lock settings; remove it`,
  ]);
  for (const managed of [5, [], null, "x"])
    assert.deepEqual(textsOf(check({}, managed).issues), ["managed : must be an object: { ... }"]);
});

/** Any JSON, mostly objects of few names, so that the two files often have the same. */
const names = fc.constantFrom(
  "access",
  "mode",
  "upstreams",
  "corp",
  "baseUrl",
  "listen",
  "port",
  "__proto__",
);
const { json } = fc.letrec<{ json: unknown; object: Record<string, unknown> }>((tie) => ({
  json: fc.oneof({ maxDepth: 4 }, fc.constantFrom<unknown>(null, 1, "x", [], [1]), tie("object")),
  object: fc
    .uniqueArray(fc.tuple(names, tie("json")), { selector: ([name]) => name, maxLength: 5 })
    .map((entries) => Object.fromEntries(entries)),
}));
const file = fc
  .uniqueArray(fc.tuple(names, json), { selector: ([name]) => name, maxLength: 6 })
  .map((entries) => Object.fromEntries(entries) as Record<string, unknown>);
const locks = fc.uniqueArray(
  fc.constantFrom(
    ...listSettings({ upstreams: { corp: {} } }).filter((path) => !path.includes("keySource.")),
  ),
  { maxLength: 4 },
);

test("property: whatever the user's file says, a locked key has the managed file's value", () => {
  fc.assert(
    fc.property(json, file, locks, (user, settings, locked) => {
      const managed = readManaged({ ...settings, locked });
      const { value } = mergeConfigs(user, managed);
      // A file that is no object is refused as a whole.
      if (typeof value !== "object" || value === null || Array.isArray(value)) return;
      for (const path of managed.locked)
        assert.deepEqual(valueAt(value, path), valueAt(managed.settings, path), formatConfigPath(path));
    }),
    { numRuns: 2_000 },
  );
});

test("property: merging with an empty or a missing file changes nothing, the order of members included", () => {
  const none = { settings: undefined, locked: [] };
  fc.assert(
    fc.property(file, (some) => {
      const text = JSON.stringify(some);
      assert.equal(JSON.stringify(mergeConfigs(some, none).value), text);
      assert.equal(JSON.stringify(mergeConfigs(some, { ...none, settings: {} }).value), text);
      assert.equal(JSON.stringify(mergeConfigs({}, { ...none, settings: some }).value), text);
      assert.equal(JSON.stringify(mergeConfigs(undefined, { ...none, settings: some }).value), text);
    }),
  );
});

/** Values that are wrong wherever they are, one issue each. */
const WRONG: [path: string, value: unknown][] = [
  ["listen.port", "x"],
  ["access", "sometimes"],
  ["upstreams.corp.baseUrl", 5],
  ["upstreams.corp.fallback", ["nope"]],
  ["limits.drainMs", -1],
  ["tools.codex.upstreams", ["nope"]],
  ["ledger.nonsense", true],
];

function build(paths: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const root: Record<string, unknown> = { upstreams: { corp: { ...corp } } };
  for (const [text, value] of paths) {
    const path = at(text).map(String);
    let object = root;
    for (const step of path.slice(0, -1)) object = (object[step] ??= {}) as Record<string, unknown>;
    object[path.at(-1) ?? ""] = value;
  }
  return root;
}

test("property: all problems of both files are reported at once, each with its own file", () => {
  const assignment = fc.array(fc.constantFrom("own", "managed", "none"), {
    minLength: WRONG.length,
    maxLength: WRONG.length,
  });
  fc.assert(
    fc.property(assignment, (owners) => {
      const of = (owner: string) => WRONG.filter((_, index) => owners[index] === owner);
      const user = build(of("own"));
      // What the user's file sets validly is in force there, and hides the managed value.
      const upstreams = owners[2] === "managed" ? { corp: {} } : { corp };
      const merged = {
        ...user,
        upstreams: owners[2] === "own" || owners[3] === "own" ? user["upstreams"] : upstreams,
      };
      const { issues } = check(merged, build(of("managed")));
      const found = issues.map(
        ({ path, isManaged }) => `${isManaged ? "managed" : "own"} ${formatConfigPath(path)}`,
      );
      const expected = WRONG.flatMap(([path, value], index) =>
        owners[index] === "none" || (index === 2 && owners[2] === "managed" && owners[3] === "own")
          ? []
          : [`${owners[index]} ${path}${Array.isArray(value) ? "[0]" : ""}`],
      );
      assert.deepEqual(found.sort(), expected.sort());
    }),
    { numRuns: 300 },
  );
});

/** Ways in which a user's file sets what a lock with `*` means. The managed file has a group for every tool. */
const EVERY_NAME: [lock: string, user: object, unused: string[]][] = [
  ['tools["*"].group', { tools: { codex: { group: "large" } } }, ["tools.codex.group"]],
  [
    "tools.*.group",
    { tools: { codex: { group: "large" }, "*": { group: "large" } } },
    ["tools.codex.group", 'tools["*"].group'],
  ],
  ["tools.*.group", { tools: { codex: "large" } }, ["tools.codex"]],
  ["tools.*.group", { tools: 1 }, ["tools"]],
  [
    "tools.*.brake",
    { tools: { codex: { brake: null }, aider: { brake: null } } },
    ["tools.codex.brake", "tools.aider.brake"],
  ],
  ["tools.*.aliases", { tools: { codex: { aliases: { a: "b" } } } }, ["tools.codex.aliases"]],
  ["groups.*.models", { groups: { small: { models: null } } }, ["groups.small.models"]],
  [
    "upstreams.*.key",
    { upstreams: { corp: { key: "mine" }, own: { ...corp, key: "mine" } } },
    ["upstreams.corp.key", "upstreams.own.key"],
  ],
  [
    "upstreams.*.fallback",
    { upstreams: { own: { ...corp, fallback: ["corp"] } } },
    ["upstreams.own.fallback"],
  ],
  ["upstreams.*", { upstreams: { own: corp } }, ["upstreams.own"]],
];

for (const [lock, user, unused] of EVERY_NAME) {
  test(`a lock on ${lock} covers every name that a user's file gives: ${unused.join(", ")}`, () => {
    const managed = {
      locked: [lock],
      upstreams: { corp },
      tools: { "*": { group: "small" } },
      groups: { small: { models: ["small-*"] }, large: {} },
    };
    const { config, issues, overruled } = check({ ...user, ledger: { project: true } }, managed);
    assert.deepEqual(issues, []);
    assert.deepEqual(
      overruled.map(({ path }) => formatConfigPath(path)),
      unused,
    );
    assert.equal(config?.otherTools.group, "small");
    assert.equal(config.tools["codex"]?.group ?? null, null);
    assert.deepEqual(config.groups["small"]?.models, ["small-*"]);
    assert.deepEqual(
      Object.values(config.upstreams)
        .map(({ key, fallback }) => [key, fallback])
        .flat(2)
        .filter((word) => word !== "default"),
      [],
    );
    assert.equal(config.ledger.project, true);
  });
}

test("a lock with * that names no setting, or a part of what is replaced as a whole, is refused", () => {
  const { issues } = check({}, { locked: ["tools.*.nope", "*", "upstreams.*.keySource.file", "access.*"] });
  assert.deepEqual(
    issues.map(({ path }) => formatConfigPath(path)),
    ["locked[0]", "locked[1]", "locked[2]", "locked[3]"],
  );
});
