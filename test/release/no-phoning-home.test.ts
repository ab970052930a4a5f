// With nothing configured, tollkeeper connects to nothing but this machine, and looks no name up: strace(1) sees every process of it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { launchDaemon } from "../helpers/daemon/daemon.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { post } from "../helpers/gate/gate.ts";

// -D: the program is our child, not the tracer, so that signals reach it and its end is seen. --seccomp-bpf: only
// these calls stop it. Otherwise each of its calls would, which takes twice as much processor time.
const TRACER = [
  "strace",
  "-D",
  "-f",
  "--seccomp-bpf",
  "-qq",
  "-e",
  "trace=connect,sendto,sendmsg,sendmmsg",
  "-o",
];
const skip =
  spawnSync("strace", ["-qq", "true"]).status === 0 ? false : "strace(1) is missing, or may not trace here";

/** Commands that a user types before there is a configuration, and that could want to know something from outside. */
const COMMANDS = [
  ["version", "--json"],
  ["status"],
  ["doctor"],
  ["usage"],
  ["models"],
  ["prices"],
  ["connect", "--list"],
  ["check"],
];

/** Lists the calls whose address is not on this machine, and those that ask a name server. */
function callsOutside(trace: string): string[] {
  return trace.split("\n").filter((line) => {
    if (!/sa_family=AF_INET6?\b/.test(line)) return false;
    const isLocal = /inet_addr\("127\.|"::1"|"::ffff:127\./.test(line);
    return !isLocal || /sin6?_port=htons\(53\)/.test(line);
  });
}

test(
  "a daemon without a configuration, and the commands beside it, reach nothing outside this machine",
  { skip, timeout: 300_000 },
  async (t) => {
    const home = scratchDirectory(t);
    const traces = join(home, "traces");
    mkdirSync(traces);
    const started = launchDaemon(home, { launcher: [...TRACER, join(traces, "daemon")] });
    t.after(() => started.kill());
    const daemon = await started.ready;
    assert.equal((await post(daemon, "/v1/responses", { model: "gpt-5", input: "hello" })).status, 200);
    for (const [index, words] of COMMANDS.entries()) {
      const args = [...TRACER, join(traces, String(index)), process.execPath, "dist/main.js", ...words];
      const { error } = spawnSync(args[0] ?? "", args.slice(1), { env: daemon.env, encoding: "utf8" });
      assert.equal(error, undefined, words.join(" "));
    }
    const names = ["daemon", ...COMMANDS.keys()].map(String);
    const texts = names.map((name) => readFileSync(join(traces, name), "utf8"));
    // The trace works: it has the connections to the control socket.
    assert.match(texts.join(""), /sa_family=AF_UNIX[^\n]*control\.sock/);
    assert.deepEqual(texts.flatMap(callsOutside), []);
  },
);

test("a connection to another machine, and a question to a name server, would be noticed", () => {
  const lines = [
    `1 connect(20, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("192.0.2.1")}, 16) = 0`,
    `1 connect(20, {sa_family=AF_INET, sin_port=htons(53), sin_addr=inet_addr("127.0.0.53")}, 16) = 0`,
    `1 connect(20, {sa_family=AF_INET6, sin6_port=htons(443), inet_pton(AF_INET6, "2001:db8::1", &sin6_addr)}, 28) = 0`,
  ];
  const local = `1 connect(20, {sa_family=AF_INET, sin_port=htons(8655), sin_addr=inet_addr("127.0.0.1")}, 16) = 0`;
  assert.deepEqual(callsOutside([...lines, local].join("\n")), lines);
});
