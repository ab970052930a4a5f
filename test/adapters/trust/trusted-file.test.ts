import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, renameSync, writeFileSync } from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { readTrustedFile } from "../../../src/adapters/trust/trusted-file.ts";
import { compileModule } from "../../helpers/process/compile-module.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { noManagedConfig, rootDirectory } from "../../helpers/config/managed-config.ts";

/** A file of root that every user can read. */
const ROOTS_FILE = "/etc/passwd";

/** Any uid but those of root and nobody: in the namespace, root's files would appear to belong to nobody. */
const OTHER_UID = 12_345;

const asOtherUser =
  process.getuid?.() === 0
    ? ["setpriv", `--reuid=${OTHER_UID}`, `--regid=${OTHER_UID}`, "--clear-groups"]
    : ["env"];

/** Runs a command in a user namespace that maps this user only, as `PrivateUsers=yes` does for a user's service. */
const IN_NAMESPACE = [...asOtherUser, "unshare", "--user", "--map-current-user"];

/** Where the two kinds of configuration file are read. */
const READERS = {
  readTrustedFile: await compileModule("src/adapters/trust/trusted-file.ts"),
  readManagedFile: await compileModule("src/adapters/config-file/managed-file.ts"),
};

/** Reads the file in a child process that `words` launch. Returns why it is refused; empty when it is accepted. */
function refusalUnder(
  words: readonly string[],
  path: string,
  reader: keyof typeof READERS = "readTrustedFile",
): string {
  const module = JSON.stringify(READERS[reader]);
  const code = `import(${module}).then(({ ${reader} }) => ${reader}(${JSON.stringify(path)})).catch(({ message, hint }) => console.log(message + "; " + hint))`;
  const [file, ...args] = [...words, process.execPath, "-e", code];
  const { status, stdout, stderr } = spawnSync(file, args, { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return stdout.trim();
}

const [probe, ...probeArguments] = [...IN_NAMESPACE, process.execPath, "-e", ""];
const noNamespace =
  spawnSync(probe, probeArguments).status !== 0 &&
  "needs Linux, a user namespace for an unprivileged user (unshare, setpriv), and sources that others may read";

test(
  "refuses root's file in the service's sandbox and advises an installation without the sandbox instead of chown",
  { skip: noNamespace },
  () => {
    const refusal = refusalUnder(IN_NAMESPACE, ROOTS_FILE);
    assert.match(refusal, /^its owner is unknown in the service's sandbox; .*; tollkeeper service install/);
    assert.doesNotMatch(refusal, /chown/);
    assert.equal(refusalUnder(asOtherUser, ROOTS_FILE), "");
  },
);

test(
  "in the service's sandbox a managed file of root's is used, and one of the user's own is not",
  { skip: noNamespace || noManagedConfig },
  (t) => {
    const directory = rootDirectory(t);
    chmodSync(directory, 0o755);
    const [roots, own] = [join(directory, "roots"), join(directory, "own")];
    for (const path of [roots, own]) writeFileSync(path, "{}", { mode: 0o644 });
    chownSync(own, OTHER_UID, OTHER_UID);
    assert.equal(refusalUnder(IN_NAMESPACE, roots, "readManagedFile"), "");
    assert.match(
      refusalUnder(IN_NAMESPACE, own, "readManagedFile"),
      /own does not belong to root; look at it, and then type: sudo chown/,
    );
    chownSync(directory, OTHER_UID, OTHER_UID);
    assert.match(
      refusalUnder(IN_NAMESPACE, roots, "readManagedFile"),
      / does not belong to root; look at it, and then type: sudo chown/,
    );
  },
);

/** Has `interfere` run just before and just after a file is opened and read. */
function interfereWithReads(t: TestContext, interfere: { opened?: () => void; read?: () => void }): void {
  const { open } = fs;
  fs.open = async (...args) => {
    const handle = await open(...args);
    interfere.opened?.();
    const { readFile } = handle;
    handle.readFile = (async (...options: Parameters<typeof readFile>) => {
      const content = await readFile.apply(handle, options);
      interfere.read?.();
      return content;
    }) as typeof readFile;
    return handle;
  };
  syncBuiltinESMExports();
  t.after(() => {
    fs.open = open;
    syncBuiltinESMExports();
  });
}

test("a file that is no longer what its path leads to is not used", async (t) => {
  const path = join(scratchDirectory(t), "config.jsonc");
  writeFileSync(path, "theirs");
  interfereWithReads(t, {
    opened: () => {
      writeFileSync(`${path}.new`, "ours");
      renameSync(`${path}.new`, path);
    },
  });
  await assert.rejects(readTrustedFile(path), { message: "it was replaced while it was read" });
});

test("a file that others could change while it was read is not used", async (t) => {
  const path = join(scratchDirectory(t), "config.jsonc");
  writeFileSync(path, "text");
  interfereWithReads(t, { read: () => chmodSync(path, 0o606) });
  await assert.rejects(readTrustedFile(path), {
    message: "other users can change it",
    hint: `chmod go-w ${path}`,
  });
});
