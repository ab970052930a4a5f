// Runs in namespaces of its own, which run.ts made: boots a systemd from ROOT, with INSTALLATION in it, and tries FILES there.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bootContainer, CONTAINER_VARIABLE, type BootedContainer } from "./booted-container.ts";
import { skipped } from "./skipped.ts";

const HERE = fileURLToPath(new URL(".", import.meta.url));

/** For one file and for each of its tests: many times what they need. */
const FILE_LIMIT_MS = 240_000;

/** A copy of `lower` that nobody else sees and that ends with the mount: what is written to it goes to memory. */
function writableCopy(lower: string, place: string): string {
  mkdirSync(place);
  execFileSync("mount", ["-t", "tmpfs", "tmpfs", place]);
  const [upper, work, merged] = ["upper", "work", "merged"].map((name) => join(place, name));
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

/** One file after the other: there is one service, and one port. */
async function runTests(container: BootedContainer, files: string[]): Promise<number> {
  const reporter = process.env["TEST_REPORTER"] ?? (process.stdout.isTTY ? "spec" : "tap");
  const options = ["--import", "tsx", "--test", "--test-concurrency=1", `--test-timeout=${FILE_LIMIT_MS}`];
  const env = { ...process.env, [CONTAINER_VARIABLE]: String(container.pid) };
  const tests = spawn(process.execPath, [...options, `--test-reporter=${reporter}`, ...files], {
    stdio: "inherit",
    env,
  });
  const [code] = (await once(tests, "exit")) as [number | null];
  return code ?? 1;
}

async function run(lower: string, installation: string, named: string[]): Promise<number> {
  // The network is ours alone: the tests' upstreams and clients and the service meet on its loopback.
  execFileSync("ip", ["link", "set", "lo", "up"]);
  const place = join(installation, "container");
  let root: string;
  try {
    root = writableCopy(lower, place);
  } catch (error) {
    return skipped(`no overlay file system can be mounted here: ${String(error)}`);
  }
  for (const directory of ["bin", "lib"])
    cpSync(join(installation, directory), join(root, "usr/local", directory), {
      recursive: true,
      verbatimSymlinks: true,
    });
  const container = await bootContainer(root);
  if (container === null) return skipped("the container did not boot; what it said is above");
  try {
    return await runTests(container, named.length > 0 ? named : testFiles());
  } finally {
    await container.stop();
  }
}

const [root = "", installation = "", ...named] = process.argv.slice(2);
// Not exitCode: as the first process of its namespace it outlives what it does not wait for.
process.exit(await run(root, installation, named));
