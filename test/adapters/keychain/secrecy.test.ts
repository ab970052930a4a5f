import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { test } from "node:test";
import { noKeyring, startUnlockedSession } from "../../helpers/keychain/keychain-session.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { waitForKeytarCall, waitForKeytarChild, listProcesses } from "../../helpers/process/processes.ts";

const skip = noKeyring;

/** The variables that the keychain's child process may have. The two `NODE_` names are its IPC channel. */
const CHILD_ENVIRONMENT = new Set([
  "DBUS_SESSION_BUS_ADDRESS",
  "HOME",
  "LC_ALL",
  "LD_LIBRARY_PATH",
  "LOGNAME",
  "NODE_CHANNEL_FD",
  "NODE_CHANNEL_SERIALIZATION_MODE",
  "PATH",
  "USER",
  "XDG_RUNTIME_DIR",
]);

/** Reads a key from standard input, stores it and reads it back, and prints all its values. */
const PROGRAM = `
  import { createKeychain } from ${sourceFile("adapters/keychain.ts")};
  import { parseApiKey } from ${sourceFile("core/secrets/api-key.ts")};
  const ref = { name: "default", origin: "https://api.example.com", source: { kind: "keychain" }, setArguments: "key set" };
  let text = "";
  for await (const chunk of process.stdin) text += chunk;
  const keychain = createKeychain();
  const secret = parseApiKey(text);
  try {
    await keychain.write(ref, secret);
    const read = await keychain.read(ref);
    console.log("same", read.isSameAs(secret), read, JSON.stringify({ read }), String(read), process.env);
  } catch (error) {
    console.log(error, JSON.stringify(error));
  }
`;

function sourceFile(path: string): string {
  return JSON.stringify(new URL(`../../../src/${path}`, import.meta.url).href);
}

function startProgram(env: NodeJS.ProcessEnv) {
  const argv = ["--import", "tsx", "--input-type=module", "-e", PROGRAM];
  return spawn(process.execPath, argv, { env: { ...process.env, ...env, DEBUG: "*" } });
}

async function outputOf(program: ReturnType<typeof startProgram>): Promise<string> {
  let output = "";
  for (const stream of [program.stdout, program.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  }
  await once(program, "close");
  return output;
}

test("a key that is stored and read does not appear in any output", { skip }, async (t) => {
  const session = await startUnlockedSession(t);
  const key = `sk-sentinel-${randomBytes(24).toString("hex")}`;
  const program = startProgram(session.env);
  program.stdin.end(key);
  const output = await outputOf(program);
  assert.match(output, /same true/);
  assert.ok(!output.includes(key));
});

test(
  "a key on its way to a hanging keychain is in no process's arguments or environment",
  { skip },
  async (t) => {
    const session = await startUnlockedSession(t);
    await session.freeze();
    const key = `sk-sentinel-${randomBytes(24).toString("hex")}`;
    const program = startProgram({ ...session.env, PATH: scratchDirectory(t), SSLKEYLOGFILE: "/dev/null" });
    program.stdin.end(key);
    const child = await waitForKeytarChild(program.pid ?? 0);
    await waitForKeytarCall(child.pid);
    const leaks = listProcesses().filter(({ argv, environ }) => `${argv}${environ}`.includes(key));
    assert.deepEqual(leaks, []);
    const names = child.environ
      .split("\0")
      .filter(Boolean)
      .map((entry) => entry.split("=", 1)[0]);
    assert.deepEqual(
      names.filter((name) => !CHILD_ENVIRONMENT.has(name ?? "")),
      [],
    );

    const output = await outputOf(program);
    assert.match(output, /unresponsive/);
    assert.ok(!output.includes(key));
  },
);
