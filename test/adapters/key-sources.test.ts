import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createKeySources } from "../../src/adapters/key-sources.ts";
import { KeyFailure } from "../../src/core/failure.ts";
import type { KeyRef, KeySource } from "../../src/core/secrets/key-source.ts";
import { Secret } from "../../src/core/secrets/secret.ts";
import { enter, scratchDirectory } from "../helpers/keychain/keychain-session.ts";
import { MemoryKeys } from "../helpers/gate/memory.ts";
import { ended } from "../helpers/process/processes.ts";

const KEY = "sk-test-0123456789";
const keychain = new MemoryKeys();
const sources = createKeySources(keychain);

function refTo(source: KeySource): KeyRef {
  return { name: "default", origin: "https://api.example.com", source };
}

async function assertGivesKey(source: KeySource): Promise<void> {
  assert.ok((await sources.read(refTo(source))).isSameAs(new Secret(KEY)));
}

async function assertRefused(source: KeySource, code: string, message: RegExp, hint = /./): Promise<void> {
  await assert.rejects(sources.read(refTo(source)), (error: Error) => {
    assert.ok(!`${error.stack} ${JSON.stringify(error)}`.includes(KEY), "the key is in the failure");
    return true;
  });
  await assert.rejects(sources.read(refTo(source)), { name: "KeyFailure", code, message, hint });
}

function command(...argv: [string, ...string[]]): KeySource {
  return { kind: "command", argv };
}

test("a key without another source is the keychain's", async () => {
  const ref = refTo({ kind: "keychain" });
  keychain.set(ref, KEY);
  await assertGivesKey({ kind: "keychain" });
  await assert.rejects(sources.read({ ...ref, name: "other" }), { code: "missing" });
});

test("a private file gives its key, with or without a line break at the end", async (t) => {
  const path = join(scratchDirectory(t), "key");
  for (const text of [KEY, `${KEY}\n`, `${KEY}\r\n`]) {
    writeFileSync(path, text, { mode: 0o600 });
    await assertGivesKey({ kind: "file", path });
  }
  chmodSync(path, 0o400);
  await assertGivesKey({ kind: "file", path });
});

test("a file that others could open is unsafe, and the hint closes it", async (t) => {
  const path = join(scratchDirectory(t), "key");
  writeFileSync(path, KEY);
  for (const mode of [0o640, 0o620, 0o610, 0o604, 0o602, 0o601]) {
    chmodSync(path, mode);
    await assertRefused(
      { kind: "file", path },
      "unsafe",
      /open to other users/,
      new RegExp(`chmod 600 ${path}`),
    );
  }
});

test(
  "a file of another user is unsafe",
  { skip: process.getuid?.() !== 0 && "needs root to give a file away" },
  async (t) => {
    const path = join(scratchDirectory(t), "key");
    writeFileSync(path, KEY, { mode: 0o600 });
    chownSync(path, 65534, 65534);
    await assertRefused({ kind: "file", path }, "unsafe", /belongs to another user/, /chown/);
  },
);

test("links, directories and pipes are no key files", async (t) => {
  const directory = scratchDirectory(t);
  const [path, link, pipe] = ["key", "link", "pipe"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(path, KEY, { mode: 0o600 });
  symlinkSync(path, link);
  execFileSync("mkfifo", ["-m", "600", pipe]);
  await assertRefused({ kind: "file", path: link }, "unsafe", /symbolic link/);
  await assertRefused({ kind: "file", path: directory }, "unsafe", /not a regular file/);
  await assertRefused({ kind: "file", path: pipe }, "unsafe", /not a regular file/);
});

test("a file that is not there, or holds no key, is told so", async (t) => {
  const path = join(scratchDirectory(t), "key");
  await assertRefused({ kind: "file", path }, "unavailable", /does not exist$/, /tollkeeper config path/);
  const contents: [text: string, problem: RegExp][] = [
    ["", /gives no key: the key is empty/],
    [`${KEY}\n${KEY}\n`, /line breaks/],
    [`Bearer ${KEY}`, /Bearer/],
    [KEY.repeat(1000), /longer than/],
  ];
  for (const [text, problem] of contents) {
    writeFileSync(path, text, { mode: 0o600 });
    await assertRefused({ kind: "file", path }, "unavailable", problem);
  }
});

test("a command gives the first line that it prints", async () => {
  await assertGivesKey(command("printf", "%s", KEY));
  await assertGivesKey(command("printf", `${KEY}\\nuser: me\\nurl: x\\n`));
});

test("a command is run without a shell, and finds its standard input closed", async () => {
  await assertGivesKey(command("sh", "-c", `cat; [ "$1" = '$(id); *' ] && echo ${KEY}`, "sh", "$(id); *"));
});

/** What the owner is told beside what clients are told, when this script is the key command. */
async function detailOf(script: string): Promise<unknown> {
  const failure: unknown = await sources.read(refTo(command("sh", "-c", script))).catch((error) => error);
  assert.ok(failure instanceof KeyFailure);
  return failure.detail;
}

test("a command that fails is told with its exit code; its name and last words are for its owner", async () => {
  const failing = `echo ${KEY}; echo first >&2; printf 'gpg: no\\033[31m agent\\n' >&2; exit 3`;
  const failed = /^the key command failed with exit code 3$/;
  await assertRefused(command("sh", "-c", failing), "unavailable", failed, /`tollkeeper status`/);
  assert.equal(await detailOf(failing), "sh: gpg: no\\u001b[31m agent");
  const killed = /^the key command failed with signal SIGKILL$/;
  await assertRefused(command("sh", "-c", "kill -9 $$"), "unavailable", killed);
});

test("last words that hold what was printed, or what looks like a key, do not hold it any more", async () => {
  assert.equal(await detailOf(`echo ${KEY}; echo "+ echo ${KEY}" >&2; exit 3`), "sh");
  assert.equal(await detailOf(`echo "+ false ${KEY}" >&2; exit 3`), "sh: + false [hidden]");
  const long = "x".repeat(190);
  assert.equal(await detailOf(`echo "${long} ${KEY.repeat(3)}" >&2; exit 3`), `sh: [hidden] [hidden]`);
});

test("a command that is missing, forbidden, mute or talks too much is told apart", async (t) => {
  const directory = scratchDirectory(t);
  const forbidden = join(directory, "forbidden");
  writeFileSync(forbidden, "", { mode: 0o600 });
  await assertRefused(command(join(directory, "none")), "unavailable", /is not found$/);
  await assertRefused(command(forbidden), "unavailable", /may not be run$/);
  await assertRefused(command("true"), "unavailable", /gives no key: the key is empty$/);
  await assertRefused(command("head", "-c", "1000000", "/dev/zero"), "unavailable", /far more than a key$/);
  await assertRefused(command("echo", "a\0b"), "unavailable", /cannot be read \(ERR_INVALID_ARG_VALUE\)$/);
});

const notLinux = process.platform !== "linux" && "looks for processes in Linux's /proc";

test(
  "a command that does not end is ended with all that it has started",
  { skip: notLinux, timeout: 30_000 },
  async (t) => {
    const pids = join(scratchDirectory(t), "pids");
    const script = `sleep 60 & echo $! $$ > ${pids}; echo waiting >&2; wait`;
    await assert.rejects(sources.read(refTo(command("sh", "-c", script))), {
      code: "unresponsive",
      message: "the key command did not end within 4.5 seconds",
      detail: "sh: waiting",
    });
    for (const pid of readFileSync(pids, "utf8").trim().split(" ")) await ended(Number(pid));
  },
);

test("what a command leaves running in the background is left alone", async (t) => {
  const pids = join(scratchDirectory(t), "pids");
  await assertGivesKey(command("sh", "-c", `sleep 60 > /dev/null 2>&1 & echo $! > ${pids}; echo ${KEY}`));
  // Throws where there is no such process.
  process.kill(Number(readFileSync(pids, "utf8")), "SIGKILL");
});

test("a systemd credential is read from the service's directory", async (t) => {
  const directory = scratchDirectory(t);
  enter(t, { CREDENTIALS_DIRECTORY: directory });
  // systemd shows its own access list as group bits, so they say nothing here.
  writeFileSync(join(directory, "upstream-key"), `${KEY}\n`, { mode: 0o440 });
  mkdirSync(join(directory, "folder"));
  await assertGivesKey({ kind: "credential", name: "upstream-key" });
  await assertRefused(
    { kind: "credential", name: "other" },
    "unavailable",
    /does not exist$/,
    /LoadCredential=other:PATH/,
  );
  await assertRefused({ kind: "credential", name: "folder" }, "unavailable", /cannot be read \(EISDIR\)$/);
  await assertRefused({ kind: "credential", name: "../x/upstream-key" }, "unavailable", /is not the name/);
});

test("outside a service there are no systemd credentials", async (t) => {
  enter(t, { CREDENTIALS_DIRECTORY: undefined });
  await assertRefused(
    { kind: "credential", name: "x" },
    "unavailable",
    /no systemd credentials were given/,
    /LoadCredential=x:PATH/,
  );
});
