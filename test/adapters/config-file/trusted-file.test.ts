import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

/** A file of root's that everybody may read. */
const ROOTS_FILE = "/etc/passwd";

/** Anybody but root, and but nobody, as whom files of root's would be their own in there. */
const SOMEBODY = 12_345;

const asSomebody =
  process.getuid?.() === 0
    ? ["setpriv", `--reuid=${SOMEBODY}`, `--regid=${SOMEBODY}`, "--clear-groups"]
    : ["env"];

/** A user namespace with this user and no other in it, as `PrivateUsers=yes` makes for a service of the user's. */
const IN_NAMESPACE = [...asSomebody, "unshare", "--user", "--map-current-user"];

/** Reads the file in a process of its own, begun by these words; gives what is said against it, empty for nothing. */
function distrustUnder(words: readonly string[], path: string): string {
  const module = JSON.stringify(
    new URL("../../../src/adapters/config-file/trusted-file.ts", import.meta.url),
  );
  const code = `import(${module}).then(({ readTrusted }) => readTrusted(${JSON.stringify(path)})).catch(({ message }) => console.log(message))`;
  const [file, ...args] = [...words, process.execPath, "--import", "tsx", "-e", code];
  const { status, stdout, stderr } = spawnSync(file, args, { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return stdout.trim();
}

const [probe, ...probeArguments] = [...IN_NAMESPACE, process.execPath, "--import", "tsx", "-e", ""];
const noNamespace =
  spawnSync(probe, probeArguments).status !== 0 &&
  "needs Linux, a user namespace for an unprivileged user (unshare, setpriv), and sources that others may read";

test(
  "in the service's sandbox root's file is nobody's: not chown is advised, but an installation without the sandbox",
  { skip: noNamespace },
  () => {
    const said = distrustUnder(IN_NAMESPACE, ROOTS_FILE);
    assert.match(
      said,
      /^it belongs to nobody in the sandbox of the service; run `tollkeeper service install`/,
    );
    assert.doesNotMatch(said, /chown/);
    assert.equal(distrustUnder(asSomebody, ROOTS_FILE), "");
  },
);
