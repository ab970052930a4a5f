// `npm run test:systemd`: the service, tried in a systemd that was booted for it (facts/platform.md 2.1, way A).
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createControlGroup, noControlGroup } from "../helpers/process/control-group.ts";
import { installPackage } from "./installation.ts";
import { reasonNotToBoot } from "./needs.ts";
import { rootFileSystem } from "./root-file-system.ts";
import { skipped } from "./skipped.ts";

/** Enough for every test twice; what takes longer hangs. */
const LIMIT_MS = 20 * 60_000;

/**
 * The container, its network, its mounts and the tests themselves live in namespaces that end with one process, and that
 * process ends with us: nothing is left behind, however this ends.
 */
const IN_NAMESPACES =
  "setpriv --pdeathsig=KILL unshare --mount --net --pid --fork --kill-child --mount-proc".split(" ");

/** Boots and tests; resolves with the exit code. */
async function testIn(root: string, installation: string): Promise<number> {
  const group = createControlGroup(`tollkeeper-test-${process.pid}`);
  const [file = "", ...words] = [
    ...group.enter,
    ...IN_NAMESPACES,
    process.execPath,
    "--import",
    "tsx",
    fileURLToPath(new URL("boot.ts", import.meta.url)),
    root,
    installation,
    ...process.argv.slice(2),
  ];
  const child = spawn(file, words, { stdio: "inherit", timeout: LIMIT_MS, killSignal: "SIGKILL" });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => child.kill("SIGKILL"));
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  await group.remove();
  if (signal !== null) console.log(`test:systemd was ended by ${signal}`);
  return code ?? 1;
}

async function run(): Promise<number> {
  const reason = reasonNotToBoot();
  if (reason !== null) return skipped(reason);
  const noGroup = noControlGroup();
  if (noGroup !== false) return skipped(noGroup);
  const root = rootFileSystem();
  if ("missing" in root) return skipped(root.missing);
  if (spawnSync(IN_NAMESPACES[0] ?? "", [...IN_NAMESPACES.slice(1), "true"]).status !== 0)
    return skipped("no namespaces may be made here (needs root with CAP_SYS_ADMIN)");
  const installation = mkdtempSync(join(tmpdir(), "tollkeeper-installation-"));
  try {
    installPackage(installation);
    return await testIn(root.directory, installation);
  } finally {
    rmSync(installation, { recursive: true, force: true });
  }
}

process.exitCode = await run();
