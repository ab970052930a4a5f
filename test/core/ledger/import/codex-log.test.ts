import assert from "node:assert/strict";
import { test } from "node:test";
import { CodexLog } from "../../../../src/core/ledger/import/codex-log.ts";

/** Codex's counts: input with both kinds of cached input, output with reasoning. */
const counts = (input: number, cached = 0, output = 0) => ({
  input_tokens: input,
  cached_input_tokens: cached,
  cache_write_input_tokens: 0,
  output_tokens: output,
  reasoning_output_tokens: 0,
  total_tokens: input + output,
});

let second = 0;
function line(type: string, payload: object): string {
  second += 1;
  return JSON.stringify({
    timestamp: new Date(Date.UTC(2026, 10, 20) + second * 1000).toISOString(),
    type,
    payload,
  });
}

const meta = (id: string, parent?: string) =>
  line("session_meta", {
    id,
    forked_from_id: parent,
    cwd: "/home/u/project",
    git: { branch: "main" },
    base_instructions: { text: "SECRET" },
  });
const model = (name: string) => line("turn_context", { model: name, cwd: "/home/u/project" });
const named = (responseId: string, usage: object, sum: object) =>
  line("token_usage_record", {
    response_id: responseId,
    usage,
    turn_token_usage: sum,
    thread_token_usage: sum,
  });
const counted = (total: object | null, last: object | undefined) =>
  line("event_msg", {
    type: "token_count",
    info: total === null ? null : { total_token_usage: total, last_token_usage: last },
  });

/** Reads these files. Returns each response as `id session model uncached+read=>output`. */
function read(...files: string[][]) {
  const log = new CodexLog();
  for (const lines of files) {
    log.startFile();
    for (const text of lines) log.addLine(text);
  }
  const records = log.records();
  const shown = records.map(
    ({ id, session, model: name, tokens }) =>
      `${id} ${session} ${name} ${tokens?.input_uncached}+${tokens?.cache_read}=>${tokens?.output}`,
  );
  return { log, records, shown };
}

test("reads the responses that lines name, and not the sums that repeat them", () => {
  const { shown, records } = read([
    meta("s"),
    model("gpt-5.5"),
    named("resp_1", counts(100, 0, 5), counts(100, 0, 5)),
    counted(counts(100, 0, 5), counts(100, 0, 5)),
    model("gpt-5.6"),
    named("resp_2", counts(150, 90, 7), counts(250, 90, 12)),
    counted(counts(250, 90, 12), counts(150, 90, 7)),
  ]);
  assert.deepEqual(shown, ["codex:resp_1 s gpt-5.5 100+0=>5", "codex:resp_2 s gpt-5.6 60+90=>7"]);
  const [first] = records;
  assert.deepEqual(
    [first?.project, first?.branch, first?.usage, first?.response_id, first?.tokens?.reasoning],
    ["/home/u/project", "main", "final", "resp_1", 0],
  );
  assert.doesNotMatch(JSON.stringify(records), /SECRET/);
});

test("a response that a fork has copied counts once, with the time of the original", () => {
  const original = [meta("s"), model("m"), named("resp_1", counts(100, 0, 5), counts(100, 0, 5))];
  const fork = [
    meta("fork", "s"),
    meta("s"),
    named("resp_1", counts(100, 0, 5), counts(100, 0, 5)),
    named("resp_2", counts(10, 0, 1), counts(110, 0, 6)),
  ];
  const { shown, records, log } = read(original, fork);
  assert.deepEqual(shown, ["codex:resp_1 s m 100+0=>5", "codex:resp_2 fork null 10+0=>1"]);
  assert.ok((records[0]?.ts ?? "") < (records[1]?.ts ?? ""));
  assert.equal(log.repeated, 1);
});

test("without named responses, what the sum of a session has grown by is a response", () => {
  const { shown, log } = read([
    meta("s"),
    model("m"),
    counted(null, undefined),
    counted(counts(100, 0, 5), counts(100, 0, 5)),
    counted(counts(100, 0, 5), counts(100, 0, 5)),
    counted(counts(250, 90, 12), counts(150, 90, 7)),
    // The compaction of the context was a response of its own, and `last` is only the one after it.
    counted(counts(500, 90, 30), counts(50, 0, 8)),
    // The sum started again from zero.
    counted(counts(40, 0, 3), counts(40, 0, 3)),
  ]);
  assert.deepEqual(shown, [
    "codex:s:100-0-0-5-0 s m 100+0=>5",
    "codex:s:250-90-0-12-0 s m 60+90=>7",
    "codex:s:500-90-0-30-0 s m 250+0=>18",
    "codex:s:40-0-0-3-0 s m 40+0=>3",
  ]);
  assert.equal(log.repeated, 1);
});

test("the first sum of a session may be that of another, so its latest response counts", () => {
  const { shown } = read([
    meta("s"),
    counted(counts(900, 0, 90), counts(100, 0, 5)),
    counted(counts(950, 0, 91), undefined),
  ]);
  assert.deepEqual(shown, ["codex:s:900-0-0-90-0 s null 100+0=>5", "codex:s:950-0-0-91-0 s null 50+0=>1"]);
});

const PARENT = [
  meta("s"),
  counted(counts(100, 0, 5), counts(100, 0, 5)),
  counted(counts(250, 0, 12), counts(150, 0, 7)),
  counted(counts(300, 0, 13), counts(50, 0, 1)),
];

test("what an old fork has copied from its parent does not count again, and what follows does", () => {
  const fork = [
    meta("fork", "s"),
    meta("s"),
    counted(counts(100, 0, 5), counts(100, 0, 5)),
    counted(counts(250, 0, 12), counts(150, 0, 7)),
    counted(counts(290, 0, 14), counts(40, 0, 2)),
  ];
  const { shown, log } = read(PARENT, fork);
  assert.equal(shown.length, 4);
  assert.equal(shown[3], "codex:fork:290-0-0-14-0 fork null 40+0=>2");
  assert.deepEqual([log.repeated, log.unclearForks], [2, 0]);
  assert.equal(read(PARENT, fork.slice(0, 3)).shown.length, 3);
});

test("an old fork whose parent is gone is left out, and that is counted", () => {
  const { shown, log } = read([meta("fork", "s"), ...PARENT.slice(1)]);
  assert.deepEqual([shown, log.unclearForks], [[], 1]);
});

/** A session that another one has spawned. */
const spawned = (id: string, parent: string) =>
  line("session_meta", {
    id,
    source: { subagent: { thread_spawn: { parent_thread_id: parent, depth: 1 } } },
  });

/** A parent whose lines name its responses, and whose sums repeat them. */
const NAMING_PARENT = [
  meta("s"),
  named("resp_1", counts(1000, 0, 100), counts(1000, 0, 100)),
  counted(counts(1000, 0, 100), counts(1000, 0, 100)),
  named("resp_2", counts(2000, 0, 100), counts(3000, 0, 200)),
  counted(counts(3000, 0, 200), counts(2000, 0, 100)),
];

for (const [what, first] of [
  ["a forked", meta("child", "s")],
  ["a spawned", spawned("child", "s")],
] as const) {
  for (const [how, copied] of [
    ["all lines", NAMING_PARENT],
    ["the last turn", NAMING_PARENT.slice(3)],
  ] as const) {
    test(`${what} session that repeats ${how} of its parent, without the names of responses, adds its own response only`, () => {
      const child = [
        first,
        meta("s"),
        ...copied.filter((text) => text.includes('"token_count"')),
        named("resp_3", counts(500, 0, 50), counts(3500, 0, 250)),
        counted(counts(3500, 0, 250), counts(500, 0, 50)),
      ];
      for (const files of [
        [NAMING_PARENT, child],
        [child, NAMING_PARENT],
      ]) {
        const { shown } = read(...files);
        assert.deepEqual(
          shown.map((text) => text.split(" ")[0]).toSorted((a = "", b = "") => a.localeCompare(b)),
          ["codex:resp_1", "codex:resp_2", "codex:resp_3"],
        );
      }
    });
  }
}

test("a spawned session that repeats nothing counts, also where its parent's log is gone", () => {
  const child = [spawned("child", "gone"), counted(counts(100, 0, 5), counts(100, 0, 5))];
  const { shown, log } = read(child);
  assert.deepEqual([shown.length, log.unclearForks], [1, 0]);
  // A copy of the parent's first line says that more of it follows.
  const copying = [spawned("child", "gone"), meta("gone"), ...child.slice(1)];
  assert.deepEqual([read(copying).shown, read(copying).log.unclearForks], [[], 1]);
});

for (const [what, first] of [
  ["a forked", meta("child", "s")],
  ["a spawned", spawned("child", "s")],
] as const) {
  test(`${what} session that repeats its parent behind lines of its own adds its own responses only`, () => {
    const own = [
      counted(counts(900, 0, 40), counts(900, 0, 40)),
      counted(counts(1000, 0, 45), counts(100, 0, 5)),
    ];
    const child = [
      first,
      ...own,
      ...PARENT.slice(1),
      // Its own sum goes on from where it was.
      counted(counts(1070, 0, 48), counts(70, 0, 3)),
    ];
    const { shown, log } = read(child, PARENT);
    assert.deepEqual(
      shown.filter((text) => text.includes(" child ")),
      [
        "codex:child:900-0-0-40-0 child null 900+0=>40",
        "codex:child:1000-0-0-45-0 child null 100+0=>5",
        "codex:child:1070-0-0-48-0 child null 70+0=>3",
      ],
    );
    assert.deepEqual([shown.length, log.repeated], [6, 3]);
  });
}

test("a fork of a fork adds its own response only, and what it copied is that of the first session", () => {
  const fork = [
    meta("fork", "s"),
    meta("s"),
    ...PARENT.slice(1),
    counted(counts(400, 0, 20), counts(100, 0, 7)),
  ];
  const another = [
    meta("another", "fork"),
    meta("fork"),
    ...PARENT.slice(1),
    counted(counts(400, 0, 20), counts(100, 0, 7)),
    counted(counts(410, 0, 21), counts(10, 0, 1)),
  ];
  const { shown } = read(another, fork, PARENT);
  assert.deepEqual(
    shown.map((text) => text.split(" ")[1]),
    ["another", "fork", "s", "s", "s"],
  );
});

test("a copy is known by any file of its parent, also where another one of them is shorter", () => {
  const fork = [meta("fork", "s"), meta("s"), ...PARENT.slice(1)];
  for (const files of [
    [PARENT, PARENT.slice(0, 2), fork],
    [PARENT.slice(0, 2), PARENT, fork],
  ])
    assert.equal(read(...files).shown.length, 3);
});

test("a copy is known by the sum of the session that a line of its parent has with the name of a response", () => {
  const parent = [meta("s"), named("resp_1", counts(1000, 0, 100), counts(1000, 0, 100))];
  const child = [spawned("child", "s"), counted(counts(1000, 0, 100), counts(1000, 0, 100))];
  assert.deepEqual(read(parent, child).shown, ["codex:resp_1 s null 1000+0=>100"]);
});

test("a session that lies in two files counts once", () => {
  const { shown, log } = read(PARENT, PARENT.slice(0, 3));
  assert.deepEqual([shown.length, log.repeated], [3, 2]);
});

test("skips what it cannot read, which is counted, and what used nothing", () => {
  const { shown, log } = read([
    "null",
    '{"type":"session_meta"',
    named("resp_1", {}, {}),
    line("token_usage_record", { usage: counts(5) }),
    '{"type":"token_usage_record","payload":{"response_id":"x","usage":{"input_tokens":1}}}',
    line("event_msg", { type: "token_count", info: 5 }),
    line("response_item", { type: "message", content: '"token_count"' }),
  ]);
  assert.deepEqual(shown, []);
  assert.equal(log.unclear, 3, "a line that is not whole, one without a name, and one without a time");
});
