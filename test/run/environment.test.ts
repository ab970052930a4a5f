import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import test, { type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { defaultConfig } from "../../src/core/config/config.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";

const RUN = fileURLToPath(new URL("../run.ts", import.meta.url));

/**
 * The first reports its environment; the others look for a keychain, a home directory, a configuration and tools, and need a port where no
 * daemon listens.
 */
const FILES = [
  "test/run/reported-environment.ts",
  "test/adapters/keychain/no-keychain.test.ts",
  "test/adapters/paths.test.ts",
  "test/cli/commands/config.test.ts",
  "test/cli/setup/dialogue.test.ts",
  "test/cli/service/status.test.ts",
  "test/daemon/stop-while-reloading.test.ts",
];

const TOOLS = ["aider", "claude", "codex", "opencode"];

/** A server that ends every connection and counts them. */
interface Trap {
  server: Server;
  hits(): number;
}

async function setTrap(t: TestContext, listenOn: string | number): Promise<Trap> {
  let hits = 0;
  const server = createServer((socket) => {
    hits += 1;
    socket.destroy();
  });
  server.listen(listenOn);
  await once(server, "listening");
  t.after(() => server.close());
  return { server, hits: () => hits };
}

function portOf({ server }: Trap): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** Listens where the caller's daemon would, unless a daemon does. */
async function takeDefaultPort(t: TestContext): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  t.after(() => server.close());
  server.listen(defaultConfig.listen.port, "127.0.0.1");
  await once(server, "listening").catch((error: NodeJS.ErrnoException) =>
    assert.equal(error.code, "EADDRINUSE"),
  );
}

test("a test run reaches nothing of the caller's: keyring, home, proxy, keys, Node options, tools, daemon", async (t) => {
  const directory = scratchDirectory(t);
  const [home, runtime, bin] = [join(directory, "home"), join(directory, "run"), join(directory, "bin")];
  for (const path of [home, runtime, bin]) mkdirSync(path);
  const called = join(directory, "called");
  for (const tool of TOOLS)
    writeFileSync(join(bin, tool), `#!/bin/sh\necho ${tool} "$@" >>${called}\n`, { mode: 0o755 });
  await takeDefaultPort(t);
  const bus = await setTrap(t, join(runtime, "bus"));
  const proxy = await setTrap(t, 0);
  const proxyUrl = `http://127.0.0.1:${portOf(proxy)}`;
  const traps = {
    HOME: home,
    XDG_CONFIG_HOME: join(home, "config"),
    XDG_STATE_HOME: join(home, "state"),
    XDG_DATA_HOME: join(home, "data"),
    XDG_CACHE_HOME: join(home, "cache"),
    XDG_RUNTIME_DIR: runtime,
    DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(runtime, "bus")}`,
    DISPLAY: ":77",
    GNOME_KEYRING_CONTROL: runtime,
    HTTP_PROXY: proxyUrl,
    HTTPS_PROXY: proxyUrl,
    ALL_PROXY: proxyUrl,
    http_proxy: proxyUrl,
    https_proxy: proxyUrl,
    ANTHROPIC_API_KEY: "sk-ant-trap-0123456789",
    ANTHROPIC_BASE_URL: proxyUrl,
    OPENAI_API_KEY: "sk-trap-0123456789",
    OPENAI_BASE_URL: proxyUrl,
    NODE_DEBUG: "http",
    NODE_OPTIONS: "--max-http-header-size=100",
    DEBUG: "*",
  };
  const env = { PATH: `${bin}:${process.env["PATH"]}`, ...traps };
  const child = spawn(process.execPath, ["--import", "tsx", RUN, ...FILES], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  assert.equal(code, 0, stdout + stderr);
  assert.deepEqual([bus.hits(), proxy.hits()], [0, 0]);
  assert.deepEqual(readdirSync(home), []);
  assert.equal(existsSync(called) ? readFileSync(called, "utf8") : "", "");
});
