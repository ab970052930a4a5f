// Runs in the namespaces that run.ts has made: boots a systemd from ROOT, with INSTALLATION in it, and runs the test FILES.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bootContainer, CONTAINER_VARIABLE, type BootedContainer } from "./booted-container.ts";
import { PREFIX_VARIABLE } from "./installation.ts";
import { reportSkipped } from "./report-skipped.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));

/** The limit for one file and for each of its tests, many times what they need. */
const FILE_LIMIT_MS = 240_000;

/** Mounts a private, writable copy of `lower`. Writes go to memory and are lost with the mount. */
function mountWritableCopy(lower: string, mountPoint: string): string {
  mkdirSync(mountPoint);
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", mountPoint]);
  const [upper, work, merged] = ["upper", "work", "merged"].map((name) => join(mountPoint, name));
  for (const directory of [upper, work, merged]) mkdirSync(directory ?? "");
  const options = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
  execFileSync("mount", ["-t", "overlay", "overlay", "-o", options, merged ?? ""]);
  return merged ?? "";
}

function testFiles(): string[] {
  return readdirSync(HERE)
    .filter((file) => file.endsWith(".systemd.ts"))
    .map((file) => HERE + file)
    .sort();
}

/** Runs the files one after another, because there is only one service and one port. */
async function runTests(container: BootedContainer, prefix: string, files: string[]): Promise<number> {
  const reporter = process.stdout.isTTY ? "spec" : "tap";
  const options = ["--import", "tsx", "--test", "--test-concurrency=1", `--test-timeout=${FILE_LIMIT_MS}`];
  const env = {
    ...process.env,
    [CONTAINER_VARIABLE]: String(container.pid),
    [PREFIX_VARIABLE]: prefix,
  };
  const tests = spawn(process.execPath, [...options, `--test-reporter=${reporter}`, ...files], {
    stdio: "inherit",
    env,
  });
  const [code] = (await once(tests, "exit")) as [number | null];
  return code ?? 1;
}

async function run(lower: string, installation: string, named: string[]): Promise<number> {
  // In this network namespace, upstreams, clients and the service connect through loopback.
  execFileSync("ip", ["link", "set", "lo", "up"]);
  const mountPoint = join(installation, "container");
  let root: string;
  try {
    root = mountWritableCopy(lower, mountPoint);
  } catch (error) {
    return reportSkipped(`no overlay file system can be mounted here: ${String(error)}`);
  }
  const prefix = join(root, "usr/local");
  for (const directory of ["bin", "lib"])
    cpSync(join(installation, directory), join(prefix, directory), {
      recursive: true,
      verbatimSymlinks: true,
    });
  const container = await bootContainer(root);
  if (container === null) return reportSkipped("the container did not boot; what it said is above");
  try {
    return await runTests(container, prefix, named.length > 0 ? named : testFiles());
  } finally {
    await container.stop();
  }
}

const [root = "", installation = "", ...named] = process.argv.slice(2);
// Exits explicitly: this is the first process of its namespace, and all remaining ones end with it.
process.exit(await run(root, installation, named));
