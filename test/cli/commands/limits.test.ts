import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { editConfig, IN_FORCE } from "../../daemon/config-edits.ts";
import type { MovedBy } from "../../../src/core/limits/moved-by.ts";
import { waitUntil } from "../../helpers/async/wait-until.ts";
import { launchDaemon } from "../../helpers/daemon/daemon.ts";
import { startDaemonWithUpstream } from "../../helpers/daemon/daemon-with-upstream.ts";
import { parseJsonOutput } from "../../helpers/daemon/json-output.ts";
import { startTail } from "../../helpers/daemon/tail.ts";
import { post } from "../../helpers/gate/gate.ts";
import { writeKeyFile } from "../../helpers/keychain/key-file.ts";
import { removeDirectory, scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { respondWithMessage, startUpstream, type Script } from "../../helpers/upstream/scripted-upstream.ts";

const LIMIT = { timeout: 300_000 };
const HOUR = 3_600_000;

/** Responds with a message, with these shares of the 5-hour window, one after the other. */
function withShares(...shares: string[]): Script {
  return (request, res) => {
    const share = shares.shift();
    if (share !== undefined) {
      res.setHeader("anthropic-ratelimit-unified-5h-utilization", share);
      res.setHeader("anthropic-ratelimit-unified-5h-reset", String(Math.ceil((Date.now() + HOUR) / 1000)));
    }
    return respondWithMessage(request, res);
  };
}

/** Leaves out when the warning was given, and when the limit resets. */
function wordsOf(warning: string): string {
  return warning.replace(/^[\d:]{8} {2}/, "").replace(/; it resets .*$/, "");
}

async function ask(daemon: { url: string }): Promise<Response> {
  const response = await post(daemon, "/v1/messages", { model: "claude-sonnet-5", messages: [] });
  await response.text();
  return response;
}

test("limits shows what responses said, and a lower value replaces a higher one", LIMIT, async (t) => {
  const { daemon } = await startDaemonWithUpstream(t, withShares("0.62", "0.05"));
  const none = await daemon.command("limits");
  assert.match(none.stdout, /^No response has said anything of limits yet/);
  const passed = await ask(daemon);
  assert.equal(passed.headers.get("anthropic-ratelimit-unified-5h-utilization"), "0.62");
  const shown = await daemon.command("limits");
  assert.match(
    shown.stdout,
    /\ndefault\n {2}5-hour window +█{6}░{4} +62% +resets (?:tomorrow, )?\d\d:\d\d +(?:just now|\d+ (?:s|min) ago)\n(?: {4}tool {5}\S+ 100%\n)?$/,
  );
  assert.match(shown.stderr, /^Other devices and programs with the same account count, too\./);
  assert.match((await daemon.command("status")).stdout, /^limit +default: 62% of the 5-hour window, /m);
  await ask(daemon);
  const { accounts } = parseJsonOutput((await daemon.command("limits", "--json")).stdout) as {
    accounts: { account: string; windows: Record<string, unknown>[] }[];
  };
  const [{ window, usedPercent, limit, remaining, state }] = accounts[0]!.windows as [
    Record<string, unknown>,
  ];
  assert.deepEqual(
    [accounts.length, accounts[0]?.account, window, usedPercent, limit, remaining, state],
    [1, "default", "5h", 5, null, null, "seen"],
  );
  // A response that says nothing leaves what is known.
  await ask(daemon);
  assert.match((await daemon.command("limits")).stdout, /^ {2}5-hour window +░{10} +5% /m);
});

test(
  "a climbing limit is in tail and in the log twice, and on the desktop if asked for",
  LIMIT,
  async (t) => {
    const programs = scratchDirectory(t);
    const shown = join(programs, "shown");
    const notifier = process.platform === "darwin" ? "osascript" : "notify-send";
    const script = `#!/bin/sh\nfor last; do :; done\nprintf '%s\\n' "$last" >> '${shown}'\n`;
    writeFileSync(join(programs, notifier), script, { mode: 0o755 });
    const shares = ["0.70", "0.82", "0.85", "0.96", "0.97"];
    const { daemon } = await startDaemonWithUpstream(t, withShares(...shares), {
      config: { serviceLimits: { notify: true } },
      env: { PATH: `${programs}:${process.env["PATH"] ?? ""}` },
    });
    const tail = await startTail(t, daemon);
    for (let asked = 0; asked < shares.length; asked += 1) {
      await ask(daemon);
      // This has what the response said read at once.
      await daemon.command("limits");
    }
    const notices = [
      "default has used 82% of the 5-hour window",
      "default has used 96% of the 5-hour window",
    ];
    const printed: string[] = [];
    while (printed.length < shares.length + notices.length)
      printed.push(((await tail.lines.next()) as { value: string }).value);
    const given = printed.filter((line) => line.includes("has used"));
    assert.deepEqual(given.map(wordsOf), notices);
    for (const notice of notices) assert.equal(daemon.stderr().split(notice).length, 2);
    const text = await waitUntil("two notifications", () => {
      const seen = existsSync(shown) ? readFileSync(shown, "utf8").trim().split("\n") : [];
      return seen.length === 2 ? seen : null;
    });
    assert.deepEqual(text.map(wordsOf).toSorted(), notices);
  },
);

test("limits survive a restart, and a damaged file is only forgotten", LIMIT, async (t) => {
  const upstream = await startUpstream(t, withShares("0.62"));
  const home = mkdtempSync(join(tmpdir(), "tollkeeper-"));
  t.after(() => removeDirectory(home));
  const { config } = writeKeyFile(t, upstream.baseUrl, "some-key");
  const start = async () => {
    const { ready, kill } = launchDaemon(home, { config });
    t.after(kill);
    return ready;
  };
  const first = await start();
  await ask(first);
  await first.stop();
  const file = join(first.env["XDG_STATE_HOME"] ?? "", "tollkeeper", "limits.json");
  assert.doesNotMatch(readFileSync(file, "utf8"), /some-key/);
  const second = await start();
  assert.match((await second.command("limits")).stdout, /5-hour window +█{6}░{4} +62% /);
  await second.stop();
  writeFileSync(file, "{");
  const third = await start();
  assert.match((await third.command("limits")).stdout, /^No response has said/);
  assert.match(third.stderr(), /what services said of limits cannot be read/);
});

test("Prometheus gets the windows that have not reset", LIMIT, async (t) => {
  const { daemon } = await startDaemonWithUpstream(t, withShares("0.62"), {
    config: { export: { metrics: {} } },
  });
  await ask(daemon);
  const { stdout } = await daemon.command("metrics");
  const labels = String.raw`\{tollkeeper_account="default",tollkeeper_window="5h"\}`;
  assert.match(stdout, new RegExp(`^tollkeeper_limit_used_ratio${labels} 0\\.62$`, "m"));
  const [, reset = ""] =
    new RegExp(`^tollkeeper_limit_reset_time_seconds${labels} (.+)$`, "m").exec(stdout) ?? [];
  const [, seen = ""] =
    new RegExp(`^tollkeeper_limit_seen_time_seconds${labels} (.+)$`, "m").exec(stdout) ?? [];
  assert.ok(Math.abs(Number(reset) - Number(seen) - HOUR / 1000) < 5, `${reset} ${seen}`);
});

test("limits of an upstream are forgotten when it gets another address", LIMIT, async (t) => {
  const { daemon } = await startDaemonWithUpstream(t, withShares("0.62"));
  await ask(daemon);
  assert.match((await daemon.command("limits")).stdout, /62%/);
  const other = await startUpstream(t, respondWithMessage);
  editConfig(daemon, writeKeyFile(t, other.baseUrl, "some-key").config);
  await daemon.waitForOutput(IN_FORCE);
  assert.match((await daemon.command("limits")).stdout, /^No response has said/);
});

test(
  "a brake keeps what is left, and limits, status, doctor and route say how to lift it",
  LIMIT,
  async (t) => {
    const { daemon } = await startDaemonWithUpstream(t, withShares("0.96"), {
      config: { tools: { nightly: { brake: { keep: 10 } } } },
    });
    assert.equal((await ask(daemon)).status, 200);
    const refused = await post(daemon, "/t/nightly/v1/messages", { model: "claude-sonnet-5", messages: [] });
    assert.deepEqual([refused.status, refused.headers.get("x-tollkeeper-refusal")], [429, "limit_kept"]);
    const waits =
      /nightly waits until (?:tomorrow at )?\d\d:\d\d: 4% of the 5-hour window of default is left, and its brake keeps 10%/;
    const lift = "tollkeeper brake remove nightly";
    for (const words of [["limits"], ["status"], ["doctor"]]) {
      const { stdout } = await daemon.command(...words);
      assert.match(stdout, waits, words[0]);
      assert.ok(stdout.includes(lift), words[0]);
    }
    const route = await daemon.command("route", "claude-sonnet-5", "--tool", "nightly", "--api", "messages");
    assert.match(
      route.stdout,
      /would refuse it: nightly waits for the 5-hour window of default: 4% of it is left/,
    );
    assert.ok(route.stdout.includes(`To change that, type: ${lift}`));
    const { holds } = parseJsonOutput((await daemon.command("limits", "--json")).stdout) as {
      holds: Record<string, unknown>[];
    };
    const [{ resetsAt: _passing, ...hold } = {}] = holds;
    assert.deepEqual(
      [holds.length, hold],
      [
        1,
        { kind: "tool", name: "nightly", keep: 10, lift, account: "default", window: "5h", leftPercent: 4 },
      ],
    );
    await daemon.command("brake", "remove", "nightly");
    await daemon.waitForOutput(IN_FORCE);
    assert.doesNotMatch((await daemon.command("limits")).stdout, /waits/);
  },
);

test(
  "limits says which tool, project and session used a window since it began, by tokens",
  LIMIT,
  async (t) => {
    const { daemon } = await startDaemonWithUpstream(t, withShares("0.2", "0.3", "0.4"));
    const body = { model: "claude-sonnet-5", messages: [] };
    for (const tool of ["zed", "codex", "zed"])
      await (await post(daemon, `/t/${tool}/v1/messages`, body)).text();
    await waitUntil("three records", async () => {
      const { total } = parseJsonOutput((await daemon.command("usage", "--json")).stdout) as {
        total: { requests: number };
      };
      return total.requests === 3 ? total : null;
    });
    const { accounts } = parseJsonOutput((await daemon.command("limits", "--json")).stdout) as {
      accounts: { windows: { movedBy: MovedBy | null }[] }[];
    };
    assert.deepEqual(
      accounts[0]?.windows[0]?.movedBy?.tool.map(({ name, sharePercent }) => [name, sharePercent]),
      [
        ["zed", 66.7],
        ["codex", 33.3],
      ],
    );
    const { stdout, stderr } = await daemon.command("limits");
    assert.match(stdout, /^ {4}tool {5}zed 67%, codex 33%$/m);
    assert.match(
      stderr,
      /^Other devices .* count, too\. The shares are of the tokens that passed tollkeeper/,
    );
  },
);

test("usage --window groups by the windows that responses named, also after a restart", LIMIT, async (t) => {
  const { daemon } = await startDaemonWithUpstream(t, withShares("0.2", "0.3"));
  const none = await daemon.command("usage", "--window", "5h");
  assert.match(none.stderr, /No response has said when a window of 5h resets/);
  await ask(daemon);
  await ask(daemon);
  // This has what the responses said read at once.
  await daemon.command("limits");
  await daemon.stop();
  const { stdout } = await daemon.command("usage", "--window", "5h", "--by", "model", "--json");
  const { by, rows } = parseJsonOutput(stdout) as { by: string[]; rows: Record<string, unknown>[] };
  assert.deepEqual([by, rows.length, rows[0]?.["requests"]], [["window", "model"], 1, 2]);
  const name = String(rows[0]?.["window"]);
  assert.match(name, /^\d{4}-\d\d-\d\d \d\d:\d\d to (?:\d{4}-\d\d-\d\d )?\d\d:\d\d default$/);
  const table = await daemon.command("usage", "--window", "5h");
  assert.ok(table.stdout.includes(name));
  const wrong = await daemon.command("usage", "--window", "requests");
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /--window "requests" is not the length of a window/);
});

test("limits without a running daemon fails and says how to start it", LIMIT, async (t) => {
  const { daemon } = await startDaemonWithUpstream(t);
  await daemon.stop();
  const { code, stderr } = await daemon.command("limits");
  assert.equal(code, 1);
  assert.match(stderr, /tollkeeper is not running/);
});
