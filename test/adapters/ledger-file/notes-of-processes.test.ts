import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import * as fs from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { UsageRecord } from "../../../src/core/ledger/record.ts";
import { identifyProcess } from "../../../src/adapters/ledger-file/process-identity.ts";
import { compileModule } from "../../helpers/process/compile-module.ts";
import { ledgerScratchDirectory, startLedger, TODAY } from "../../helpers/ledger/ledger.ts";
import { noteNames, orphanNotes } from "../../helpers/ledger/notes.ts";
import { usageRecord } from "../../helpers/ledger/usage-record.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PROGRAM = [process.execPath, await compileModule("test/adapters/ledger-file/open-ledger.ts")];

/** Another process that is about to open a ledger. */
interface Opener {
  child: ChildProcess;
  /** See `identifyProcess`. */
  identity: string;
  pid: number;
  /** Has it open the ledger. Resolves when it has, or when it has been killed. */
  open(): Promise<void>;
}

async function prepareOpener(t: TestContext, directory: string, launcher: string[] = []): Promise<Opener> {
  const [file, ...args] = [...launcher, ...PROGRAM, directory];
  const child = spawn(file, args, { cwd: ROOT, stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  child.stdin.on("error", () => {});
  const lines = createInterface(child.stdout);
  const [identity] = (await once(lines, "line")) as [string];
  const open = async () => {
    const done = Promise.race([once(lines, "line"), once(lines, "close")]);
    child.stdin.write("open\n");
    await done;
  };
  return { child, identity, pid: Number.parseInt(identity), open };
}

/** Leaves notes of another process behind. Returns the ledger's directory. */
function leaveNotes(t: TestContext, owner: string | undefined, count = 1): string {
  const { ledger, directory } = startLedger(t);
  for (let i = 0; i < count; i += 1)
    ledger.note([usageRecord({ id: `note-${i}`, outcome: "cut", cut_by: "crash" })]);
  orphanNotes(directory, owner);
  return directory;
}

/** Returns the ids of the day's records, in order of their names. */
function idsIn(directory: string): string[] {
  const path = join(directory, `${TODAY}.ndjson`);
  const lines = fs.existsSync(path) ? fs.readFileSync(path, "utf8").split("\n") : [""];
  assert.equal(lines.pop(), "");
  const whole = lines.filter((line) => line !== "");
  return whole.map((line) => (JSON.parse(line) as UsageRecord).id).sort();
}

test("notes of a daemon that runs are left alone until it has ended", async (t) => {
  const { child, identity } = await prepareOpener(t, ledgerScratchDirectory(t));
  const directory = leaveNotes(t, identity);
  startLedger(t, { directory });
  assert.deepEqual([idsIn(directory), noteNames(directory).length], [[], 1]);
  child.kill("SIGKILL");
  await once(child, "exit");
  startLedger(t, { directory });
  assert.deepEqual([idsIn(directory), noteNames(directory)], [["note-0"], []]);
});

const skip = process.platform !== "linux" && "needs Linux, which says when a process has started";

test(
  "notes of a killed daemon whose parent has not asked for its end become records",
  { skip },
  async (t) => {
    // The shell becomes a sleep, which never asks.
    const launcher = ["/bin/sh", "-c", '"$@" <&0 & exec sleep 600', "sh"];
    const { pid, identity } = await prepareOpener(t, ledgerScratchDirectory(t), launcher);
    const directory = leaveNotes(t, identity);
    process.kill(pid, "SIGKILL");
    while (!/\) Z /.test(fs.readFileSync(`/proc/${pid}/stat`, "utf8"))) await delay(5);
    startLedger(t, { directory });
    assert.deepEqual(idsIn(directory), ["note-0"]);
  },
);

const own = identifyProcess().split("-");
const REUSED: [what: string, owner: string][] = [
  ["another process has its pid now", `${own[0]}-${own[1]}-1`],
  ["the machine was started again since", `${own[0]}-00000000-${own[2]}`],
];

for (const [what, owner] of REUSED) {
  test(`notes of a daemon become records when ${what}`, { skip }, (t) => {
    const directory = leaveNotes(t, owner);
    startLedger(t, { directory });
    assert.deepEqual([idsIn(directory), noteNames(directory)], [["note-0"], []]);
  });
}

const NOTES = 300;
const all = Array.from({ length: NOTES }, (_, i) => `note-${i}`).sort();

/** Of each of the processes. Their last lines are often half written when another one opens the ledger: a batch is 80 KB. */
const STARTS = 40;
const BATCH = 60;

test("processes that open a ledger again and again while others append to it cut nothing off", async (t) => {
  const directory = ledgerScratchDirectory(t);
  const program = [await compileModule("test/adapters/ledger-file/write-again.ts"), directory];
  const printed = [1, 2, 3, 4].map(async () => {
    const child = spawn(process.execPath, [...program, String(STARTS), String(BATCH)], { cwd: ROOT });
    t.after(() => child.kill("SIGKILL"));
    return (await text(child.stdout)).trimEnd().split("\n");
  });
  const written = (await Promise.all(printed)).flat();
  assert.equal(written.length, 4 * STARTS * BATCH);
  assert.deepEqual(idsIn(directory), written.sort());
});

test("of daemons that start at the same time one makes each note a record", async (t) => {
  const directory = leaveNotes(t, undefined, NOTES);
  const openers = await Promise.all([1, 2, 3].map(() => prepareOpener(t, directory)));
  await Promise.all(openers.map(({ open }) => open()));
  assert.deepEqual([idsIn(directory), noteNames(directory)], [all, []]);
});
