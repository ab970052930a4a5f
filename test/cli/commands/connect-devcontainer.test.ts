import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { prepareHome } from "../../helpers/daemon/daemon.ts";

/** What is pasted, as far as it is used here. */
interface Pasted {
  mounts: string[];
  containerEnv: Record<string, string>;
  postStartCommand: string;
}

const CONFIG = { listen: { port: 4711, socket: "/home/me/sockets/tk.sock" } };

test("connect devcontainer prints JSON with the mounts, the bridge, and the variables of tools by their marks", async (t) => {
  const { home, command } = prepareHome(t, { config: CONFIG });
  const { code, stdout, stderr } = await command("connect", "devcontainer", "--print");
  assert.equal(code, 0);
  const { mounts, containerEnv, postStartCommand } = JSON.parse(stdout) as Pasted;
  const [sockets = "", program = ""] = mounts;
  assert.equal(sockets, "type=bind,source=/home/me/sockets,target=/run/tollkeeper,readonly");
  const source = /^type=bind,source=(.*),target=\/opt\/tollkeeper,readonly$/.exec(program)?.[1] ?? "";
  assert.ok(existsSync(join(source, "dist/main.js")));
  assert.deepEqual(containerEnv, {
    ANTHROPIC_BASE_URL: "http://127.0.0.1:8655/t/claude-code",
    ANTHROPIC_AUTH_TOKEN: "tk-claude-code",
    ENABLE_TOOL_SEARCH: "false",
    CLAUDE_CODE_ATTRIBUTION_HEADER: "0",
    CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: "1",
    CLAUDE_CODE_GATEWAY_HINT_HEADERS: "1",
    OPENAI_BASE_URL: "http://127.0.0.1:8655/t/sdk/v1",
    OPENAI_API_KEY: "tk-sdk",
  });
  assert.match(postStartCommand, /bridge --socket \/run\/tollkeeper\/tk\.sock > .* &$/);
  assert.match(stderr, /type in the container: node \/opt\/tollkeeper\/dist\/main\.js connect codex/);
  assert.ok(!existsSync(join(home, "state")), "nothing is written");
  assert.equal((await command("connect", "devcontainer")).stdout, stdout);
});

test("without a socket it names the command that sets one where the service's sandbox lets it be", async (t) => {
  const { home, command } = prepareHome(t, { config: { listen: { port: 4711 } } });
  const { stderr, stdout } = await command("connect", "devcontainer", "--print");
  const socket = `${home}/state/tollkeeper/remote/tollkeeper.sock`;
  assert.ok(stderr.includes(`config set listen.socket ${socket}`), stderr);
  assert.ok((JSON.parse(stdout) as Pasted).mounts[0]?.includes(`source=${home}/state/tollkeeper/remote,`));
});

test("where tokens are required it takes them from variables of the host, since the file may be shared", async (t) => {
  const { command } = prepareHome(t, { config: { ...CONFIG, access: "token" } });
  const { stdout, stderr } = await command("connect", "devcontainer", "--print");
  const { containerEnv } = JSON.parse(stdout) as Pasted;
  assert.equal(containerEnv["ANTHROPIC_AUTH_TOKEN"], "${localEnv:TOLLKEEPER_TOKEN_CLAUDE_CODE}");
  assert.equal(containerEnv["OPENAI_API_KEY"], "${localEnv:TOLLKEEPER_TOKEN_SDK}");
  assert.match(
    stderr,
    /set TOLLKEEPER_TOKEN_CLAUDE_CODE on this machine to what this prints: .* token add claude-code/,
  );
});

test("the printed command is a command line that a shell runs as meant", async (t) => {
  const { command } = prepareHome(t, { config: { listen: { port: 4711, socket: "/home/me/a b/t k.sock" } } });
  const { postStartCommand } = JSON.parse((await command("connect", "devcontainer")).stdout) as Pasted;
  const [line = ""] = postStartCommand.replace(/^nohup node/, "printf '%s\\n'").split(" > ");
  const shell = spawn("sh", ["-c", line], { stdio: ["ignore", "pipe", "inherit"] });
  const [printed] = await Promise.all([text(shell.stdout), once(shell, "exit")]);
  assert.deepEqual(printed.trim().split("\n"), [
    "/opt/tollkeeper/dist/main.js",
    "bridge",
    "--socket",
    "/run/tollkeeper/t k.sock",
  ]);
});
