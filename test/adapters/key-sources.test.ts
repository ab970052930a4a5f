import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createKeySources } from "../../src/adapters/key-sources.ts";
import { KeyFailure } from "../../src/core/failure.ts";
import { describeKeySource, type KeyRef, type KeySource } from "../../src/core/secrets/key-source.ts";
import { Secret } from "../../src/core/secrets/secret.ts";
import { setEnvironment } from "../helpers/process/set-environment.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { MemoryKeys } from "../helpers/gate/memory.ts";
import { waitForExit } from "../helpers/process/processes.ts";

const KEY = "sk-test-0123456789";
const keychain = new MemoryKeys();
const sources = createKeySources(keychain);

function refTo(source: KeySource): KeyRef {
  return { name: "default", origin: "https://api.example.com", source, setArguments: "key set" };
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

test("reads a key with the keychain as its source from the keychain", async () => {
  const ref = refTo({ kind: "keychain" });
  keychain.set(ref, KEY);
  await assertGivesKey({ kind: "keychain" });
  await assert.rejects(sources.read({ ...ref, name: "other" }), { code: "missing" });
});

test("reads a key from a private file, with or without a line break at the end", async (t) => {
  const path = join(scratchDirectory(t), "key");
  for (const text of [KEY, `${KEY}\n`, `${KEY}\r\n`]) {
    writeFileSync(path, text, { mode: 0o600 });
    await assertGivesKey({ kind: "file", path });
  }
  chmodSync(path, 0o400);
  await assertGivesKey({ kind: "file", path });
});

test("refuses a key file that other users can access, with a hint to close it", async (t) => {
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
  "refuses a key file of another user",
  { skip: process.getuid?.() !== 0 && "needs root to give a file away" },
  async (t) => {
    const path = join(scratchDirectory(t), "key");
    writeFileSync(path, KEY, { mode: 0o600 });
    chownSync(path, 65534, 65534);
    await assertRefused({ kind: "file", path }, "unsafe", /belongs to another user/, /^look at .* with: mv /);
  },
);

test("refuses links, directories and pipes as key files", async (t) => {
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

test("reports a key file that does not exist or does not contain a valid key", async (t) => {
  const path = join(scratchDirectory(t), "key");
  const create = /^create it with: touch .* && chmod 600 .*; or .* tollkeeper config edit$/;
  await assertRefused({ kind: "file", path }, "unavailable", /does not exist$/, create);
  const contents: [text: string, problem: RegExp][] = [
    ["", /provides no valid key: the key is empty/],
    [`${KEY}\n${KEY}\n`, /line breaks/],
    [`Bearer ${KEY}`, /Bearer/],
    [KEY.repeat(1000), /longer than/],
  ];
  for (const [text, problem] of contents) {
    writeFileSync(path, text, { mode: 0o600 });
    await assertRefused({ kind: "file", path }, "unavailable", problem);
  }
});

test("uses the first line of a key command's output", async () => {
  await assertGivesKey(command("printf", "%s", KEY));
  await assertGivesKey(command("printf", `${KEY}\\nuser: me\\nurl: x\\n`));
});

test("runs a key command without a shell and with closed standard input", async () => {
  await assertGivesKey(command("sh", "-c", `cat; [ "$1" = '$(id); *' ] && echo ${KEY}`, "sh", "$(id); *"));
});

/** Runs this script as the key command and returns the failure's detail, which only the owner gets. */
async function detailOf(script: string): Promise<unknown> {
  const failure: unknown = await sources.read(refTo(command("sh", "-c", script))).catch((error) => error);
  assert.ok(failure instanceof KeyFailure);
  return failure.detail;
}

test("reports a failed key command with its exit code, and its name and last error line to the owner only", async () => {
  const failing = `echo ${KEY}; echo first >&2; printf 'gpg: no\\033[31m agent\\n' >&2; exit 3`;
  const failed = /^the key command failed with exit code 3$/;
  await assertRefused(command("sh", "-c", failing), "unavailable", failed, /tollkeeper status; /);
  assert.equal(await detailOf(failing), "sh: gpg: no\\u001b[31m agent");
  const killed = /^the key command failed with signal SIGKILL$/;
  await assertRefused(command("sh", "-c", "kill -9 $$"), "unavailable", killed);
});

test("reads the token of an ExecCredential over several lines, with the time at which it expires", async () => {
  const at = "2126-01-31T12:00:00Z";
  const status = { token: KEY, expirationTimestamp: at };
  const text = JSON.stringify({ kind: "ExecCredential", status }, null, 2);
  await assertGivesKey(command("echo", text));
  assert.equal((await sources.read(refTo(command("echo", text)))).expiresAt, Date.parse(at));
});

test("refuses a token that has already expired, AWS access keys and other JSON", async () => {
  const status = { token: KEY, expirationTimestamp: "2026-01-01T00:00:00Z" };
  const expired = JSON.stringify({ kind: "ExecCredential", status });
  const clock = /check this machine's clock; then type: tollkeeper key test$/;
  await assertRefused(command("echo", expired), "unavailable", /has already expired$/, clock);
  const aws = JSON.stringify({ Version: 1, AccessKeyId: KEY, SecretAccessKey: KEY });
  await assertRefused(command("echo", aws), "unavailable", /printed AWS access keys/, /Amazon Bedrock/);
  await assertRefused(command("echo", JSON.stringify({ token: KEY })), "unavailable", /printed JSON/);
});

test("redacts the members of JSON that the command printed in its last error line", async () => {
  const printed = JSON.stringify({ kind: "ExecCredential", status: { token: "plainsecret" } });
  assert.equal(await detailOf(`echo '${printed}'; echo "bad plainsecret" >&2; exit 3`), "sh: bad [hidden]");
});

test("redacts the command's output and look-alike keys in its last error line", async () => {
  assert.equal(await detailOf(`echo ${KEY}; echo "+ echo ${KEY}" >&2; exit 3`), "sh: + echo [hidden]");
  assert.equal(await detailOf(`echo "+ false ${KEY}" >&2; exit 3`), "sh: + false [hidden]");
  const long = "x".repeat(190);
  assert.equal(
    await detailOf(`echo "${long} ${KEY.repeat(3)}" >&2; exit 3`),
    `sh: [hidden] ${"*".repeat(3 * KEY.length)}`,
  );
});

/** Last lines of standard error with a key that nothing in its form tells from a name, and what is shown of them. */
const LAST_LINES: [printed: string, line: string, shown: string][] = [
  ["", "+ printf %s qwe.456.rty", "+ printf %s [hidden]"],
  ["", "> Authorization: Bearer qwe456rty", "> Authorization: Bearer *********"],
  ["", "> X-Vault-Token: hvs.qwe456rty", "> X-Vault-Token: [hidden]"],
  ["", 'parse error near "qwe456rty"', 'parse error near "[hidden]"'],
  ["", "key=qwe/456/rty", "key=[hidden]"],
  ["", "open /run/vault/qwe456rty/key: no such file", "open /run/vault/[hidden]/key: no such file"],
  ["", "qwertyuiopasdfghjklzxcvbnm", "[hidden]"],
  ["note\\nqwertzui", "cannot use qwertzui", "cannot use [hidden]"],
  [
    "",
    '[ERROR] 2026/11/28 10:00:00 no item "api key" in vault',
    '[ERROR] 2026/11/28 10:00:00 no item "api key" in vault',
  ],
  ["", "gpg: decryption failed: No secret key", "gpg: decryption failed: No secret key"],
  ["", "Cannot autolaunch D-Bus without X11 $DISPLAY", "Cannot autolaunch D-Bus without X11 $DISPLAY"],
];

for (const [printed, line, shown] of LAST_LINES) {
  test(`of a key command's last error line ${JSON.stringify(line)} the owner sees what cannot be the key`, async () => {
    const script = `printf '${printed}'; printf '%s\\n' "$LINE" >&2; exit 3`;
    assert.equal(await detailOf(`LINE='${line}'; ${script}`), `sh: ${shown}`);
  });
}

test("a key of a known form in a key command's line is not shown", () => {
  const key = `glpat-${"aB1".repeat(7)}`;
  assert.equal(describeKeySource(command("get-key", "--token", key)), "command get-key --token [hidden]");
});

test("distinguishes key commands that do not exist, may not be run, print nothing or print too much", async (t) => {
  const directory = scratchDirectory(t);
  const forbidden = join(directory, "forbidden");
  writeFileSync(forbidden, "", { mode: 0o600 });
  await assertRefused(command(join(directory, "none")), "unavailable", /was not found$/);
  await assertRefused(command(forbidden), "unavailable", /cannot be run: permission denied$/);
  await assertRefused(command("true"), "unavailable", /provides no valid key: the key is empty$/);
  await assertRefused(command("head", "-c", "1000000", "/dev/zero"), "unavailable", /far more than a key$/);
  await assertRefused(command("echo", "a\0b"), "unavailable", /cannot be read: ERR_INVALID_ARG_VALUE$/);
});

const notLinux = process.platform !== "linux" && "looks for processes in Linux's /proc";

test(
  "kills a key command that does not end together with its child processes",
  { skip: notLinux, timeout: 300_000 },
  async (t) => {
    const pids = join(scratchDirectory(t), "pids");
    const script = `sleep 60 & echo $! $$ > ${pids}; echo waiting >&2; wait`;
    await assert.rejects(sources.read(refTo(command("sh", "-c", script))), {
      code: "unresponsive",
      message: "the key command did not finish within 4.5 seconds",
      detail: "sh: waiting",
    });
    for (const pid of readFileSync(pids, "utf8").trim().split(" ")) await waitForExit(Number(pid));
  },
);

test("a key command has as long as its setting says, and no longer", { timeout: 300_000 }, async () => {
  const stuck: KeySource = { kind: "command", argv: ["sleep", "60"], timeoutMs: 2_000 };
  const slow: KeySource = {
    kind: "command",
    argv: ["sh", "-c", "sleep 5; echo key-after-five-seconds"],
    timeoutMs: 20_000,
  };
  assert.equal((await sources.read(refTo(slow))).reveal(), "key-after-five-seconds");
  await assert.rejects(sources.read(refTo(stuck)), {
    code: "unresponsive",
    message: "the key command did not finish within 2 seconds",
  });
});

/** Runs a key command while the process has no free descriptor, and prints the failure. */
const OUT_OF_DESCRIPTORS = `
  import { openSync } from "node:fs";
  import { runKeyCommand } from ${JSON.stringify(new URL("../../src/adapters/key-sources/key-command.ts", import.meta.url))};
  try { for (;;) openSync("/dev/null", "r"); } catch {}
  try { await runKeyCommand(["true"], 4500); } catch (error) { process.stdout.write(error.name + ": " + error.message); }
`;

test("a key command that cannot be started for want of a descriptor fails, and the process lives on", () => {
  const node = [process.execPath, "--import", "tsx", "--input-type=module", "-e", OUT_OF_DESCRIPTORS];
  const { status, stdout, stderr } = spawnSync("sh", ["-c", 'ulimit -n 100; exec "$@"', "sh", ...node], {
    encoding: "utf8",
  });
  assert.deepEqual([status, stdout], [0, "KeyFailure: the key command cannot be run (EMFILE)"], stderr);
});

test("reads a systemd credential from the service's directory", async (t) => {
  const directory = scratchDirectory(t);
  setEnvironment(t, { CREDENTIALS_DIRECTORY: directory });
  // systemd's access list shows up as group bits, which are therefore not checked.
  writeFileSync(join(directory, "upstream-key"), `${KEY}\n`, { mode: 0o440 });
  mkdirSync(join(directory, "folder"));
  await assertGivesKey({ kind: "credential", name: "upstream-key" });
  await assertRefused(
    { kind: "credential", name: "other" },
    "unavailable",
    /does not exist$/,
    /LoadCredential=other:PATH/,
  );
  await assertRefused(
    { kind: "credential", name: "folder" },
    "unavailable",
    /cannot be read: it is a directory$/,
  );
  await assertRefused({ kind: "credential", name: "../x/upstream-key" }, "unavailable", /is not the name/);
});

test("reports that there are no systemd credentials outside a service", async (t) => {
  setEnvironment(t, { CREDENTIALS_DIRECTORY: undefined });
  await assertRefused(
    { kind: "credential", name: "x" },
    "unavailable",
    /systemd passed no credentials to this process/,
    /LoadCredential=x:PATH/,
  );
});
