import assert from "node:assert/strict";
import { createServer } from "node:http";
import { once } from "node:events";
import { renameSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { bridgeCheckAt } from "../../../src/cli/doctor/checks/bridge.ts";
import type { Evidence } from "../../../src/cli/doctor/evidence.ts";
import { prepareHome } from "../../helpers/daemon/daemon.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { freePort } from "../../helpers/process/free-port.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { startBridge } from "../../helpers/remote/bridge.ts";
import { startSocketDaemon } from "../../helpers/remote/socket-daemon.ts";

/** Returns the finding as one text. */
async function check(port: number, directory: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const [finding] = await bridgeCheckAt(port, directory).run({ env } as Evidence);
  return `${finding?.verdict}: ${finding?.message} -> ${finding?.fix ?? ""}`;
}

test("doctor in a container says whether the bridge runs, what is missing, and what to type", async (t) => {
  const { daemon, socket, directory } = await startSocketDaemon(t);
  const port = await freePort();
  assert.equal(
    await check(port, directory),
    `failure: tollkeeper's socket is mounted, but no bridge listens on port ${port} -> tollkeeper bridge --socket ${socket}`,
  );
  const bridge = await startBridge(t, socket);
  assert.equal(
    await check(bridge.port, directory),
    `ok: port ${bridge.port} reaches tollkeeper on its host -> `,
  );
  await daemon.stop();
  assert.match(
    await check(bridge.port, directory),
    /^failure: a bridge runs here, but cannot reach tollkeeper on its host/,
  );
  assert.deepEqual(await daemon.ledger(), []);
});

test("without a socket it names the command of the host, and over ssh the forwarding", async (t) => {
  const nowhere = `${dirname(scratchDirectory(t))}/nowhere`;
  const port = await freePort();
  assert.match(
    await check(port, nowhere),
    /no socket is mounted at .*nowhere.* -> on the container's host, .*tollkeeper connect devcontainer --print$/,
  );
  assert.match(
    await check(port, nowhere, { SSH_CONNECTION: "1" }),
    /-> on the machine .*ssh -R 8655:127\.0\.0\.1:8655 HOST; /,
  );
});

test("another program on the port is named as what it is", async (t) => {
  const server = createServer((_req, res) => res.end("hello"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  assert.match(
    await check(port, "/nowhere"),
    /^failure: another program listens on port \d+ and receives what tools send -> /,
  );
});

test("where tollkeeper runs elsewhere, doctor asks for no service, and where it is configured it examines everything", async (t) => {
  const { env, configFile } = prepareHome(t, {
    env: { container: "podman", ANTHROPIC_BASE_URL: "http://127.0.0.1:8655/t/claude-code" },
  });
  // The machine has no configuration of its own.
  const elsewhere = join(env["HOME"] ?? "", "elsewhere.jsonc");
  renameSync(configFile, elsewhere);
  const away = await runProgram(["doctor", "--json"], { env });
  const ids = (JSON.parse(away.stdout) as { checks: { id: string }[] }).checks.map(({ id }) => id);
  assert.deepEqual([...new Set(ids)], ["node", "bridge", "leftover-keys", "base-urls", "proxies", "tools"]);
  // Nothing in it is to reach a tollkeeper elsewhere.
  const { ANTHROPIC_BASE_URL: _, ...alone } = env;
  const unpointed = await runProgram(["doctor", "--json"], { env: alone });
  assert.doesNotMatch(unpointed.stdout, /"id": "bridge"/);
  const here = await runProgram(["doctor", "--json", "--config", elsewhere], { env });
  assert.match(here.stdout, /"id": "service"/);
});
