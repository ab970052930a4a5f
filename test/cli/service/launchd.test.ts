// `service` on macOS, with a stand-in for launchd that starts the real daemon.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import type { CheckedFinding } from "../../../src/check/check.ts";
import { prepareHome } from "../../helpers/daemon/daemon.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { createFakeLaunchd, ON_MACOS } from "../../helpers/launchd/fake-launchd.ts";
import { freePort } from "../../helpers/process/free-port.ts";

/** Creates a home on macOS. `configPath` is the place of its configuration below it. */
async function createMacHome(t: TestContext, configPath: string) {
  const {
    home,
    configFile: written,
    env,
  } = prepareHome(t, { config: { listen: { port: await freePort() } } });
  const configFile = join(home, configPath);
  mkdirSync(dirname(configFile), { recursive: true });
  copyFileSync(written, configFile);
  const log = join(home, "Library", "Logs", "tollkeeper", "tollkeeper.log");
  const serve = ["serve", "--log-file", log, "--config", configFile];
  const { directory } = createFakeLaunchd(t, [process.execPath, PROGRAM, ...serve]);
  const macEnv = { ...env, PATH: `${directory}:${env["PATH"]}`, NODE_OPTIONS: ON_MACOS };
  const run = async (...args: string[]) => {
    const child = spawn(process.execPath, [PROGRAM, ...args, "--config", configFile], { env: macEnv });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => (output += String(chunk)));
    return { code: ((await once(child, "close")) as [number | null])[0], output };
  };
  return { home, configFile, run };
}

test("install warns of files that macOS closes to services, before it starts the daemon", async (t) => {
  const { configFile, run } = await createMacHome(t, "Documents/dotfiles/config.jsonc");
  const { code, output } = await run("service", "install");
  assert.equal(code, 0, output);
  const warning = `warning: macOS does not let services access ~/Documents, which contains ${configFile}: move it elsewhere, then type: tollkeeper service install --config FILE\n`;
  assert.ok(output.includes(warning), output);
  assert.ok(output.indexOf(warning) < output.indexOf("launchctl bootstrap"), output);
});

test("doctor names such files while the service does not run, and nothing of them while it does", async (t) => {
  const { configFile, run } = await createMacHome(t, "Documents/dotfiles/config.jsonc");
  await run("service", "install");
  const finding = async () => {
    const { output } = await run("doctor", "--json");
    const { checks } = JSON.parse(output) as { checks: CheckedFinding[] };
    return checks.find(({ id }) => id === "closed-folders");
  };
  assert.equal(await finding(), undefined);
  await run("service", "stop");
  assert.deepEqual(await finding(), {
    id: "closed-folders",
    title: "closed folders",
    verdict: "failure",
    message: `the service cannot read one of its files: macOS does not let services access ~/Documents, which contains ${configFile}`,
    fix: "move it elsewhere, then type: tollkeeper service install --config FILE",
  });
});

test("install warns of nothing in a home whose files are elsewhere", async (t) => {
  const { run } = await createMacHome(t, "Library/Application Support/tollkeeper/config.jsonc");
  const { code, output } = await run("service", "install");
  assert.equal(code, 0, output);
  assert.doesNotMatch(output, /warning: macOS/);
});
