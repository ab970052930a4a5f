import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openCommandLine } from "../../helpers/daemon/run-program.ts";
import { prepareHome } from "../../helpers/daemon/daemon.ts";

const LIMIT = { timeout: 300_000 };

const TEXT = `{
  // Where requests go.
  "upstreams": { "default": { "baseUrl": "https://api.example.com/v1" } },
  "tools": {
    "codex": { "key": "codex" }, // at night
    "*": { "group": "small" },
  },
  "groups": { "small": { "models": ["*-mini"] }, "frontier": {} },
  // The end.
}
`;

/** A configuration, and a command that is run with it. */
function prepare(t: Parameters<typeof prepareHome>[0]) {
  const home = prepareHome(t, { config: {} });
  const file = join(home.home, "own.jsonc");
  writeFileSync(file, TEXT, { mode: 0o600 });
  const text = () => readFileSync(file, "utf8");
  const inTurn = openCommandLine(home.env);
  const run = async (line: string) => {
    const { code, stdout, stderr } = await inTurn(...line.split(" "), "--config", file);
    return {
      code,
      stdout: stdout.replaceAll(file, "FILE"),
      stderr: stderr.replaceAll(file, "FILE"),
    };
  };
  return { run, text };
}

/** Commands that set something, each with the one that takes it back. */
const PAIRS: [set: string, undo: string][] = [
  ["budget set codex --usd 20 --per day", "budget remove codex"],
  ["budget set --all --tokens 2M --rolling 5", "budget remove --all"],
  ["budget set --group small --usd 1 --per week --warn-only", "budget remove --group small"],
  ["budget set --key codex --usd 9 --per hour", "budget remove --key codex"],
  ["budget set claude --usd 9 --per hour", "budget remove claude-code"],
  ["config set listen.port 8700", "config unset listen.port"],
  ["config set export.metrics {}", "config unset export.metrics"],
  ['config set tools.zed.upstreams ["default"]', "config unset tools.zed.upstreams"],
  ["group set night --models gpt-5*,claude-* --key codex", "group remove night"],
  ["group set night", "group remove night"],
  ["group use codex frontier", "group leave codex"],
  ["alias set claude-haiku-4-5 qwen3-coder", "alias remove claude-haiku-4-5"],
  ["alias set gpt-5-mini gpt-5 --tool zed", "alias remove gpt-5-mini --tool zed"],
  ["brake set codex gentle", "brake remove codex"],
  ["brake set --group small gentle", "brake remove --group small"],
  ["brake set codex --requests-per-minute 60 --concurrent 4 --same 5 --within 10", "brake remove codex"],
  ["brake set --group small --keep 10", "brake remove --group small"],
];

for (const [set, undo] of PAIRS)
  test(
    `${undo} takes back ${set}, byte for byte; both show the change, and the first says what takes it back`,
    LIMIT,
    async (t) => {
      const { run, text } = prepare(t);
      const done = await run(set);
      assert.deepEqual([done.code, done.stderr.replaceAll(/^warning: .*\n/gm, "")], [0, ""], done.stderr);
      assert.match(done.stdout, /^\+.*\S/m);
      const saysHow = new RegExp(
        `^To (?:remove it|take it out), type: tollkeeper ${undo} --config FILE$`,
        "m",
      );
      if (!set.startsWith("config ")) assert.match(done.stdout, saysHow);
      assert.notEqual(text(), TEXT);
      const undone = await run(undo);
      assert.equal(undone.code, 0, undone.stderr);
      assert.match(undone.stdout, /^-.*\S/m);
      assert.equal(text(), TEXT);
      const again = await run(undo);
      assert.notEqual(again.code, 0, "what is not there cannot be removed");
      assert.equal(text(), TEXT);
    },
  );

test(
  "a rule for a tool, a group, a key or a project that nobody has is refused, and names the nearest",
  LIMIT,
  async (t) => {
    const { run, text } = prepare(t);
    for (const [line, message] of [
      ["budget set codx --usd 20 --per day", 'no tool called "codx" is known; did you mean "codex"?'],
      ["budget lift codx", 'no tool called "codx" is known; did you mean "codex"?'],
      ["budget set --group smal --usd 1 --per day", 'no group is called "smal"; did you mean "small"?'],
      [
        "budget set --key codx --usd 1 --per day",
        'the configuration names no key "codx"; did you mean "codex"?',
      ],
      ["budget set --project /nowhere --usd 1 --per day", "/nowhere is not a directory"],
      ["brake set codx gentle", 'no tool called "codx" is known; did you mean "codex"?'],
      ["brake set --group smal gentle", 'no group is called "smal"; did you mean "small"?'],
      ["group use codx small", 'no tool called "codx" is known; did you mean "codex"?'],
      ["group use codex smal", 'no group is called "smal"; did you mean "small"?'],
      ["alias set a b --tool codx", 'no tool called "codx" is known; did you mean "codex"?'],
      ["config set tools.codx.group small", 'no tool called "codx" is known; did you mean "codex"?'],
      ["token add codx", 'no tool called "codx" is known; did you mean "codex"?'],
      ["group remove small", "group small has tools: *"],
    ] as const) {
      const { code, stderr } = await run(line);
      assert.deepEqual([code, stderr.split("\n")[0]], [1, `error: ${message}`], line);
    }
    assert.equal(text(), TEXT);
  },
);

test(
  "what is not set cannot be removed: the nearest name is shown, and the command that lists what is set, without any option",
  LIMIT,
  async (t) => {
    const { run, text } = prepare(t);
    await run("budget set codex --usd 20 --per day");
    await run("brake set codex gentle");
    const before = text();
    for (const [line, message, hint] of [
      [
        "budget remove codxe",
        'FILE sets no budget for tool codxe; did you mean "codex"?',
        "to see all budgets, type: tollkeeper budget --config FILE",
      ],
      [
        "brake remove codx",
        'FILE does not set a brake for tool codx; did you mean "codex"?',
        "to see all brakes, type: tollkeeper brake --config FILE",
      ],
      [
        "brake remove --group smal",
        "FILE does not set a brake for group smal",
        "to see all brakes, type: tollkeeper brake --config FILE",
      ],
      [
        "alias remove claude",
        "FILE does not set an alias claude",
        "to see all aliases, type: tollkeeper alias --config FILE",
      ],
      [
        "alias remove a --tool codx",
        "FILE does not set an alias a of codx",
        "to see all aliases, type: tollkeeper alias --config FILE",
      ],
      [
        "group leave zed",
        "FILE does not set a group for zed",
        "to see all groups and their tools, type: tollkeeper group --config FILE",
      ],
      [
        "group remove smal",
        'FILE does not set group smal; did you mean "small"?',
        "to see all groups and their tools, type: tollkeeper group --config FILE",
      ],
      [
        "config unset tools.codx.key",
        'FILE does not set tools.codx.key; did you mean "codex"?',
        "to see where its value comes from, type: tollkeeper config explain tools.codx.key --config FILE",
      ],
    ] as const) {
      const { code, stderr } = await run(line);
      assert.deepEqual([code, stderr], [1, `error: ${message}\nhint: ${hint}\n`], line);
    }
    assert.equal(text(), before);
  },
);

test("all in place of a tool means --all where there is one", LIMIT, async (t) => {
  const { run, text } = prepare(t);
  const { stdout } = await run("budget set all --usd 20 --per day");
  assert.match(stdout, /^The budget is .* for all tools together, [^]*type: tollkeeper budget remove --all /);
  assert.equal((await run("budget remove all")).code, 0);
  assert.equal(text(), TEXT);
  for (const line of ["brake set all gentle", "brake remove all"])
    assert.match(
      (await run(line)).stderr,
      /^error: a brake is for one tool or one group\nhint: .* add: --group GROUP\n$/,
    );
});

test(
  "--new makes a rule for a tool that was not seen yet, and a token makes a tool known",
  LIMIT,
  async (t) => {
    const { run, text } = prepare(t);
    for (const [set, undo] of [
      ["budget set nightly --usd 20 --per day --new", "budget remove nightly"],
      ["brake set nightly gentle --new", "brake remove nightly"],
      ["group use nightly small --new", "group leave nightly"],
      ["config set tools.nightly.group small --new", "config unset tools.nightly.group"],
    ] as const) {
      assert.equal((await run(set.replace(" --new", ""))).code, 1, set);
      assert.equal((await run(set)).code, 0, set);
      assert.equal((await run(undo)).code, 0, undo);
    }
    assert.equal((await run("token add my-script")).code, 0);
    assert.equal((await run("budget set my-script --usd 20 --per day")).code, 0);
    assert.match(text(), /"my-script"/);
  },
);

test(
  "of several budgets the one that the options name is removed, and without them all are named",
  LIMIT,
  async (t) => {
    const { run, text } = prepare(t);
    await run("budget set codex --usd 20 --per day");
    const one = text();
    await run("budget set codex --tokens 2M --class output --rolling 5");
    const unclear = await run("budget remove codex");
    assert.equal(unclear.code, 1);
    assert.match(
      unclear.stderr,
      /^error: tool codex has several budgets\nhint: type one of these:\n +tollkeeper budget remove codex --usd 20 --per day --config FILE\n +tollkeeper budget remove codex --tokens 2000000 --class output --rolling 5 --config FILE\n$/,
    );
    const wrong = await run("budget remove codex --usd 21");
    assert.match(wrong.stderr, /^error: tool codex has no such budget\n/);
    const removed = await run("budget remove codex --rolling 5");
    assert.match(
      removed.stdout,
      /^The budget 2,000,000 output tokens in 5 hours for tool codex is removed from FILE\n/,
    );
    assert.equal(text(), one);
  },
);

test("group, brake and alias list what there is, also as JSON", LIMIT, async (t) => {
  const { run } = prepare(t);
  assert.equal(
    (await run("group")).stdout,
    "group     models  tools\nsmall     *-mini  codex and all other tools\nfrontier  all     no tool\n",
  );
  assert.match((await run("brake list")).stdout, /^There is no brake\.[^]*brake set codex gentle\n$/);
  await run("brake set codex gentle");
  assert.match(
    (await run("brake")).stdout,
    /^brake of +allows\ncodex +120 requests per minute, 16 requests at once, /,
  );
  await run("alias set a b --tool zed");
  assert.equal((await run("alias list")).stdout, "a: requests b, for zed\n");
  assert.deepEqual(JSON.parse((await run("alias list --json")).stdout), [
    { tool: "zed", model: "a", other: "b" },
  ]);
});

for (const [line, message] of [
  ["budget set codex --usd twenty --per day", '--usd "twenty" is not a number'],
  ["budget set codex --tokens lots --per day", '--tokens "lots" is not a number'],
  ["budget set codex --usd 1 --rolling soon", '--rolling "soon" is not a number of hours'],
  ["budget set codex --per day", "--usd or --tokens is missing"],
  ["budget set codex --usd 1", "--per or --rolling is missing"],
  ["budget set codex --usd 1 --tokens 1 --per day", "--usd and --tokens cannot be used together"],
  ["budget set codex --usd 1 --per day --rolling 5", "--per and --rolling cannot be used together"],
  ["brake set codex", "the limits are missing"],
  ["brake set codex --concurrent four", '--concurrent "four" is not a whole number'],
  ["brake set codex --same 5", "--same and --within belong together"],
  ["brake set codex gentle --concurrent 4", '"gentle" and limits of your own cannot be used together'],
  ["brake set gentle", "the limits are missing"],
  ["budget remove codex --all", '"codex" and --all cannot be used together'],
  ["budget remove --group small --key codex", "--group and --key cannot be used together"],
  ["budget remove", "a tool, group, project or key is missing"],
  ["budget lift codex --all", '"codex" and --all cannot be used together'],
  ["resume --group small --all", "--group and --all cannot be used together"],
  ["group use small codex", '"small" is the group, and the tool comes before it'],
  ["config unset listn.port", 'the configuration has no listn.port; did you mean "listen.port"?'],
  ["usage today", '"usage" takes no argument "today"'],
] as const)
  test(`${line} is wrong usage, in the command's own words`, LIMIT, async (t) => {
    const { run, text } = prepare(t);
    const { code, stderr } = await run(line);
    assert.deepEqual([code, stderr.split("\n")[0]], [2, `error: ${message}`]);
    assert.doesNotMatch(stderr, /FILE:/);
    assert.equal(text(), TEXT);
  });

test(
  "a value that the schema refuses is named without a line of a file that does not exist",
  LIMIT,
  async (t) => {
    const { run } = prepare(t);
    const { stderr } = await run("budget set codex --usd 9999999999 --per day");
    assert.match(
      stderr,
      /^error: nothing was written: tools\.codex\.budgets\[0\]\.usd: must be at most 1000000000\n/,
    );
  },
);

test("usage with a mistyped tool says that nothing matches, and what was meant", LIMIT, async (t) => {
  const { run } = prepare(t);
  const { stderr } = await run("usage --tool codx");
  assert.match(
    stderr,
    /^No usage of tool codx is recorded for [^]*Did you mean codex\? Then type:\n {2}tollkeeper --config FILE usage --tool codex\n$/,
  );
  assert.match(
    (await run("usage codex")).stderr,
    /hint: for one tool, type: tollkeeper --config FILE usage --tool codex\n/,
  );
  assert.match(
    (await run("usage today")).stderr,
    /hint: for a period, type: tollkeeper --config FILE usage --since today\n$/,
  );
  assert.match((await run("route gpt-5 --tool codx")).stderr, /did you mean "codex"\?/);
});
