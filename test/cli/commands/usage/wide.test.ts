// `usage --wide` where a person looks: with the real `less` on a real terminal.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { dayOf } from "../../../../src/core/ledger/day.ts";
import { findPager } from "../../../../src/cli/terminal/pager.ts";
import { PROGRAM } from "../../../helpers/daemon/program.ts";
import { homeWithLedger } from "../../../helpers/ledger/home-with-ledger.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";
import { fakePrograms } from "../../../helpers/process/fake-programs.ts";
import { noTerminal, runOnTerminal } from "../../../helpers/process/terminal.ts";

const noLess = spawnSync("less", ["--version"]).error !== undefined && "needs less (apt-get install less)";
const skip = noTerminal || noLess;

// What a terminal sends for them while less runs.
const RIGHT = "\u001bOC";
const LEFT = "\u001bOD";
/** What `less` says below, before and after it went to the right. */
const [FIRST, NEXT] = ["right arrow: next columns   q: quit", "left arrow: back   q: quit"];

const at = new Date();
const RECORDS = ["claude-code", "codex", "zed"].map((tool) =>
  usageRecord({ tool, ts: at.toISOString(), tokens: tokens({ input_uncached: 5_000_000, cache_read: 7 }) }),
);

/** Runs `usage --wide` on a terminal of this size, and returns its screens in the order in which they were drawn. */
async function showWide(
  t: TestContext,
  [columns, rows]: readonly [number, number],
  typing: [string, string][] = [],
  env: Record<string, string> = {},
) {
  const lines = RECORDS.map((record) => `${JSON.stringify(record)}\n`).join("");
  const home = homeWithLedger(t, { [`${dayOf(at.toISOString())}.ndjson`]: lines });
  const argv = ["usage", "--wide", "--since", "2d", "--config", home.configFile];
  const command = [process.execPath, PROGRAM, ...argv].join(" ");
  const { code, text } = await runOnTerminal(
    ["sh", "-c", `stty cols ${columns} rows ${rows}; exec ${command}`],
    { env: { TERM: "xterm", LANG: "C.UTF-8", NO_COLOR: "1", ...home.env, ...env } },
    typing,
  );
  return { code, text: stripVTControlCharacters(text).replaceAll("\r", "") };
}

test(
  "usage --wide goes from table to table with the arrows, each with the names of its rows",
  { skip },
  async (t) => {
    const { code, text } = await showWide(
      t,
      [80, 30],
      [
        [FIRST, RIGHT],
        [NEXT, "q"],
      ],
    );
    assert.equal(code, 0);
    const [first = "", second = ""] = text.split(FIRST);
    for (const [screen, heads] of [
      [first, /^tool +cost +share +requests +tokens in/m],
      [second, /^tool +saved +uncached /m],
    ] as const) {
      assert.match(screen, heads);
      for (const name of ["claude-code", "codex", "zed", "total"])
        assert.match(screen, new RegExp(`^${name} `, "m"));
      assert.match(screen, /^Cost: pay-per-use/m, "what explains it is on each");
    }
    assert.match(first, /^Usage by tool, .* 1 of 3/m);
    assert.match(second, /Usage by tool, .* 2 of 3/);
  },
);

test("usage --wide can be scrolled back", { skip }, async (t) => {
  const { code, text } = await showWide(
    t,
    [80, 30],
    [
      [FIRST, RIGHT],
      [NEXT, LEFT],
      [FIRST, "q"],
    ],
  );
  assert.equal(code, 0);
  assert.match(text.split(NEXT)[1] ?? "", /Usage by tool, .* 1 of 3/);
});

test(
  "usage --wide is printed where it fits, where no pager is wanted, and where none can be run",
  { skip },
  async (t) => {
    for (const [size, env] of [
      [[240, 40], {}],
      [[80, 30], { PAGER: "cat" }],
      [[80, 30], { PAGER: "" }],
      [[80, 30], { TERM: "dumb" }],
      [[80, 30], { PAGER: "no-such-pager --of-mine" }],
    ] as const) {
      const { code, text } = await showWide(t, size, [], env);
      assert.equal(code, 0);
      assert.match(text, /^total .*\$18\.75 /m);
      assert.match(text, / slowest 5%$/m);
      assert.doesNotMatch(text, new RegExp(`${FIRST}| of 3`));
    }
  },
);

test(
  "another pager gets the tables one below the other, if they are too many for the terminal",
  { skip },
  async (t) => {
    const { directory, calls } = fakePrograms(t, { most: [{ match: "*", does: "cat >shown" }] });
    const env = { PAGER: `${directory}/most -x` };
    const { text } = await showWide(t, [80, 10], [], env);
    assert.deepEqual(calls(), [["most", "-x"]]);
    assert.equal(text, "");
    assert.match(readFileSync(join(directory, "shown"), "utf8"), /^tool +cost .*^tool +saved .*^Cost: /ms);
    await showWide(t, [80, 60], [], env);
    assert.equal(calls().length, 1);
  },
);

test("Ctrl-C reaches the pager, and does not end what feeds it", { skip }, async (t) => {
  const interrupted = "trap '' INT; kill -INT 0; cat >shown";
  const { directory } = fakePrograms(t, { most: [{ match: "*", does: interrupted }] });
  const { code } = await showWide(t, [80, 10], [], { PAGER: `${directory}/most` });
  assert.equal(code, 0);
  assert.match(readFileSync(join(directory, "shown"), "utf8"), /^Cost: /m);
});

function found(PAGER: string, TERM = "xterm") {
  return findPager({ PAGER, TERM });
}

test("options of less are respected, and more than less with options is left to the shell", () => {
  if (noLess === false) {
    assert.ok((found("less -FRX")?.less ?? 0) > 0);
    assert.ok((findPager({ TERM: "xterm" })?.less ?? 0) > 0);
  }
  assert.deepEqual(found("less | head"), { command: "less | head", less: null });
  assert.deepEqual(found("most"), { command: "most", less: null });
  for (const none of ["", " ", "cat"]) assert.equal(found(none), null);
  assert.equal(found("less", "dumb"), null);
});
