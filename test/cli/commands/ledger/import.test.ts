import assert from "node:assert/strict";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import type { ImportedRecord } from "../../../../src/core/ledger/import/imported-record.ts";
import { homeWithLedger } from "../../../helpers/ledger/home-with-ledger.ts";
import { scratchDirectory } from "../../../helpers/process/scratch-directory.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";
import { zstdFrame } from "../../../helpers/upstream/zstd-frames.ts";

const claude = (id: string, ts: string, output = 5) =>
  `${JSON.stringify({
    type: "assistant",
    timestamp: ts,
    sessionId: "claude-session",
    requestId: `req_${id}`,
    cwd: "/home/u/SECRET-PROJECT",
    gitBranch: "SECRET-BRANCH",
    message: {
      id,
      model: "claude-sonnet-5",
      stop_reason: "end_turn",
      content: [{ type: "text", text: "SECRET-ANSWER" }],
      usage: {
        input_tokens: 10,
        cache_read_input_tokens: 1000,
        cache_creation_input_tokens: 0,
        output_tokens: output,
      },
    },
  })}\n`;

const USAGE = { input_tokens: 100, cached_input_tokens: 40, output_tokens: 7, reasoning_output_tokens: 0 };
const codex = (ts: string) =>
  [
    { type: "session_meta", timestamp: ts, payload: { id: "codex-session", cwd: "/home/u/SECRET-PROJECT" } },
    { type: "turn_context", timestamp: ts, payload: { model: "unheard-of" } },
    {
      type: "event_msg",
      timestamp: ts,
      payload: { type: "token_count", info: { total_token_usage: USAGE, last_token_usage: USAGE } },
    },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");

const codexSession = (id: string) => codex("2026-11-20T12:00:00Z").replace("codex-session", id);

/** A home with these logs, by their paths in it. */
function homeWithLogs(
  t: TestContext,
  logs: Record<string, string | Buffer>,
  ledger: Record<string, string> = {},
  config = {},
) {
  const home = homeWithLedger(t, ledger, config);
  const imported = join(home.directory, "imported");
  const write = (path: string, text: string | Buffer) => {
    mkdirSync(dirname(join(home.home, path)), { recursive: true });
    writeFileSync(join(home.home, path), text);
  };
  for (const [path, text] of Object.entries(logs)) write(path, text);
  const read = (path: string) =>
    readFileSync(join(imported, path), "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as ImportedRecord);
  return { ...home, imported, write, read };
}

const CLAUDE = ".claude/projects/-home-u/one.jsonl";
const CODEX = ".codex/sessions/2026/11/20/rollout-1.jsonl";
const LOGS = {
  [CLAUDE]: claude("msg_1", "2026-11-20T10:00:00Z") + claude("msg_2", "2026-11-21T10:00:00Z"),
  ".claude/projects/-home-u/one/subagents/agent-1.jsonl":
    claude("msg_3", "2026-11-21T11:00:00Z") + claude("msg_1", "2026-11-21T12:00:00Z", 9),
  ".claude/projects/notes.txt": claude("msg_4", "2026-11-21T11:00:00Z"),
  [CODEX]: codex("2026-11-20T12:00:00Z"),
};

test("ledger import keeps each response of the logs once, beside the ledger, and in no sum of it", async (t) => {
  const { command, read, imported, directory } = homeWithLogs(t, LOGS);
  const { code, stdout } = await command("ledger", "import");
  assert.equal(code, 0);
  assert.equal(
    stdout,
    [
      "claude-code: 3 responses in 2 log files",
      "  1 line left out: they repeat the usage of a response",
      `  imported: 3 (3 new), in ${imported}/claude-code`,
      "  from 2026-11-20 to 2026-11-21 (UTC): 30 uncached input, 3,000 cache read, 0 cache write, 19 output",
      "  at the prices of the API: $0.000850",
      "codex: 1 response in 1 log file",
      `  imported: 1 (1 new), in ${imported}/codex`,
      "  from 2026-11-20 to 2026-11-20 (UTC): 60 uncached input, 40 cache read, 0 cache write, 7 output",
      "  at the prices of the API: unknown; without a price: unheard-of",
      "",
    ].join("\n"),
  );
  assert.deepEqual(
    read("claude-code/2026-11-20.ndjson").map(({ id, tokens: counts }) => [id, counts?.output]),
    [["claude-code:msg_1", 9]],
  );
  assert.deepEqual(
    read("claude-code/2026-11-21.ndjson").map(({ id, source }) => `${source} ${id}`),
    ["claude-code claude-code:msg_2", "claude-code claude-code:msg_3"],
  );
  const files = readdirSync(imported, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith("n"),
  );
  assert.deepEqual(files.toSorted(), [
    "claude-code/2026-11-20.ndjson",
    "claude-code/2026-11-21.ndjson",
    "codex/2026-11-20.ndjson",
  ]);
  for (const file of files) {
    assert.doesNotMatch(
      readFileSync(join(imported, file), "utf8"),
      /SECRET/,
      "no content, and no project unasked",
    );
    assert.equal(statSync(join(imported, file)).mode & 0o777, 0o600);
  }
  assert.deepEqual(readdirSync(directory), ["imported"]);
  const usage = await command("usage", "--since", "2026");
  assert.equal(usage.stdout, "");
  const verified = await command("ledger", "verify");
  assert.match(verified.stdout, /^No problems: the ledger has no lines yet/);
});

test("ledger import again changes nothing, and keeps what the logs no longer have", async (t) => {
  const { command, read, imported, home, write } = homeWithLogs(t, LOGS);
  await command("ledger", "import");
  const file = join(imported, "claude-code", "2026-11-20.ndjson");
  const before = [readFileSync(file, "utf8"), statSync(file).mtimeMs];
  const again = await command("ledger", "import");
  assert.match(again.stdout, /imported: 3 \(0 new\)/);
  assert.deepEqual([readFileSync(file, "utf8"), statSync(file).mtimeMs], before);
  rmSync(join(home, CLAUDE));
  write(".claude/projects/-home-u/two.jsonl", claude("msg_5", "2026-11-20T09:00:00Z"));
  const { stdout } = await command("ledger", "import", "claude-code");
  assert.match(stdout, /^claude-code: 3 responses in 2 log files\n/);
  assert.match(stdout, /imported: 3 \(1 new\)/);
  assert.deepEqual(
    read("claude-code/2026-11-20.ndjson").map(({ id }) => id),
    // msg_1 is now only in a copy of another day, and stays what it was.
    ["claude-code:msg_5", "claude-code:msg_1"],
  );
  assert.equal(read("claude-code/2026-11-21.ndjson").length, 2);
});

test("ledger import leaves out what tollkeeper recorded itself: by response, by request, and by session and counts", async (t) => {
  const recorded = [
    usageRecord({ ts: "2026-11-20T23:59:59.000Z", response_id: "msg_2" }),
    usageRecord({ ts: "2026-11-21T11:00:00.000Z", response_id: null, upstream_request_id: "req_msg_3" }),
    usageRecord({
      ts: "2026-11-20T12:00:00.000Z",
      session: "codex-session",
      tokens: tokens({ input_uncached: 60, cache_read: 40, output: 7 }),
    }),
  ];
  const ledger = Object.fromEntries(
    ["2026-11-20", "2026-11-21"].map((day) => [
      `${day}.ndjson`,
      recorded
        .filter(({ ts }) => ts.startsWith(day))
        .map((record) => `${JSON.stringify(record)}\n`)
        .join(""),
    ]),
  );
  const { command, read } = homeWithLogs(t, LOGS, ledger);
  const { stdout } = await command("ledger", "import");
  assert.match(stdout, /^ {2}2 left out: tollkeeper recorded them itself$/m);
  assert.match(stdout, /^codex: 1 response in 1 log file\n {2}1 left out: .*\n {2}imported: 0 \(0 new\)$/m);
  assert.deepEqual(
    read("claude-code/2026-11-20.ndjson").map(({ id }) => id),
    ["claude-code:msg_1"],
  );
});

test("ledger import --dry-run writes nothing, and a project is kept where the ledger has projects", async (t) => {
  const { command, directory, read } = homeWithLogs(t, LOGS, {}, { ledger: { project: true } });
  const { stdout } = await command("ledger", "import", "--dry-run");
  assert.match(stdout, /^ {2}to import: 3 \(3 new\)/m);
  assert.deepEqual(readdirSync(directory), []);
  await command("ledger", "import");
  const [record] = read("claude-code/2026-11-20.ndjson");
  assert.deepEqual([record?.project, record?.branch], ["/home/u/SECRET-PROJECT", "SECRET-BRANCH"]);
});

test("ledger import says where there are no logs", async (t) => {
  const { command } = homeWithLogs(t, {});
  const { code, stdout } = await command("ledger", "import");
  assert.deepEqual([code, stdout], [0, "claude-code: no logs were found.\ncodex: no logs were found.\n"]);
});

test("ledger import goes where a variable moves the logs", async (t) => {
  const elsewhere = scratchDirectory(t);
  mkdirSync(join(elsewhere, "projects"));
  writeFileSync(join(elsewhere, "projects", "one.jsonl"), LOGS[CLAUDE] ?? "");
  const { command } = homeWithLedger(t, {}, {}, { CLAUDE_CONFIG_DIR: elsewhere });
  const { stdout } = await command("ledger", "import", "claude-code");
  assert.match(stdout, /^claude-code: 2 responses in 1 log file\n/);
});

test("compressed rollouts are read, one that lies in two places counts once, and what cannot be decoded is named", async (t) => {
  const line = codex("2026-11-20T12:00:00Z");
  const whole = zstdFrame(Buffer.from(line));
  const { command } = homeWithLogs(t, {
    [`${CODEX}.zst`]: whole,
    ".codex/archived_sessions/rollout-1.jsonl": line,
    ".codex/sessions/2026/11/19/rollout-0.jsonl.zst": "damaged",
  });
  const { code, stdout, stderr } = await command("ledger", "import", "codex");
  assert.equal(code, 0, stderr);
  assert.match(
    stdout,
    /^codex: 1 response in 3 log files\n {2}1 line left out: .*\n {2}not read: cannot read \S+rollout-0\.jsonl\.zst: not valid zstd: .*\n {2}imported: 1 \(1 new\), .*\n.*: 60 uncached input, 40 cache read, 0 cache write, 7 output$/m,
  );
});

test("what a damaged or truncated rollout has before the damage counts, and the file is named with the reason", async (t) => {
  const whole = zstdFrame(Buffer.from(codexSession("one")));
  const truncated = zstdFrame(Buffer.from("x".repeat(300_000))).subarray(0, -1);
  const { command } = homeWithLogs(t, {
    ".codex/sessions/truncated.jsonl.zst": Buffer.concat([whole, truncated]),
    ".codex/sessions/damaged.jsonl.zst": Buffer.concat([
      zstdFrame(Buffer.from(codexSession("two"))),
      Buffer.from("damaged"),
    ]),
    // As much as the decoder returns at once, and nothing is wrong with it.
    ".codex/sessions/whole.jsonl.zst": zstdFrame(Buffer.from("x".repeat(2 * 128 * 1024))),
  });
  const { code, stdout } = await command("ledger", "import", "codex", "--json");
  assert.equal(code, 0);
  const [source] = (JSON.parse(stdout) as { sources: { responses: number; unread: { files: unknown } }[] })
    .sources;
  assert.equal(source?.responses, 2);
  assert.match(
    JSON.stringify(source.unread.files),
    /damaged\.jsonl\.zst: not valid zstd.*truncated\.jsonl\.zst: not valid zstd: it ends too early/,
  );
  assert.doesNotMatch(JSON.stringify(source.unread.files), /whole/);
});

test("ledger import says of each tool what it did not read, and why: links, long lines and lines that are not whole", async (t) => {
  const { command, home } = homeWithLogs(t, {
    [CLAUDE]: `${LOGS[CLAUDE] ?? ""}{"type":"assistant","usage"`,
    [CODEX]: `${codex("2026-11-20T12:00:00Z")}${"x".repeat(17 * 1024 * 1024)}\n{"token_count"`,
    "elsewhere/one.jsonl": codex("2026-11-20T12:00:00Z"),
  });
  for (const [target, path] of [
    ["elsewhere", ".codex/sessions/moved"],
    ["elsewhere/one.jsonl", ".claude/projects/linked.jsonl"],
  ] as const)
    symlinkSync(join(home, target), join(home, path));
  const { stdout } = await command("ledger", "import");
  const unread = stdout.split("\n").filter((line) => line.startsWith("  not read: "));
  assert.deepEqual(unread, [
    "  not read: 1 link, because links are not followed",
    "  not read: 1 line with usage that is not whole, or without an id or a time",
    "  not read: 1 link, because links are not followed",
    "  not read: 1 line of more than 16 MiB",
    "  not read: 1 line with usage that is not whole, or without an id or a time",
  ]);
});

test("a log that this user may not read keeps none of the others from it, and is named with what to type", async (t) => {
  const logs = { [CODEX]: codex("2026-11-20T12:00:00Z"), ".codex/sessions/locked.jsonl": "" };
  const { command, home } = homeWithLogs(t, logs);
  const locked = join(home, ".codex/sessions/locked.jsonl");
  if (process.getuid?.() === 0) return t.skip("root may read any file");
  chmodSync(locked, 0);
  const { code, stdout } = await command("ledger", "import", "codex");
  assert.equal(code, 0);
  assert.match(stdout, /^codex: 1 response in 2 log files\n {2}not read: cannot read \S+locked\.jsonl: /);
});
