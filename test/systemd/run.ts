// `npm run test:systemd`: tests the service in a booted systemd container (docs/platform.md section 2).
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createControlGroup, noControlGroup } from "../helpers/process/control-group.ts";
import { installPackage } from "./installation.ts";
import { findMissingRequirement } from "./requirements.ts";
import { rootFileSystem } from "./root-file-system.ts";
import { reportSkipped } from "./report-skipped.ts";

/** Twice the time that all tests need. */
const LIMIT_MS = 20 * 60_000;

/**
 * The container, its network, its mounts and the tests run in namespaces that end with one process, which ends with this
 * one. Nothing remains, however the run ends.
 */
const IN_NAMESPACES =
  "setpriv --pdeathsig=KILL unshare --mount --net --pid --fork --kill-child --mount-proc".split(" ");

/** Boots the container and runs the tests. Returns the exit code. */
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
  const reason = findMissingRequirement();
  if (reason !== null) return reportSkipped(reason);
  const noGroup = noControlGroup();
  if (noGroup !== false) return reportSkipped(noGroup);
  const root = rootFileSystem();
  if ("missing" in root) return reportSkipped(root.missing);
  if (spawnSync(IN_NAMESPACES[0] ?? "", [...IN_NAMESPACES.slice(1), "true"]).status !== 0)
    return reportSkipped("no namespaces may be made here (needs root with CAP_SYS_ADMIN)");
  const installation = mkdtempSync(join(tmpdir(), "tollkeeper-installation-"));
  try {
    await installPackage(installation);
    return await testIn(root.directory, installation);
  } finally {
    rmSync(installation, { recursive: true, force: true });
  }
}

process.exitCode = await run();
