// What docs/remote.md says of ssh, over a real sshd on loopback.
import assert from "node:assert/strict";
import { test } from "node:test";
import { join } from "node:path";
import { mkdirSync } from "node:fs";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { freePort } from "../helpers/process/free-port.ts";
import { scratchDirectory } from "../helpers/process/scratch-directory.ts";
import { startBridge } from "../helpers/remote/bridge.ts";
import { startSocketDaemon } from "../helpers/remote/socket-daemon.ts";
import { noSshd, startSshd } from "../helpers/remote/sshd.ts";

const HELLO = JSON.stringify({
  model: "claude-sonnet-5",
  max_tokens: 16,
  stream: true,
  messages: [{ role: "user", content: "hello" }],
});

/** Sends a request as a tool on the other host would. */
async function sayHello(port: number, mark = ""): Promise<{ status: number; text: string }> {
  const response = await fetch(`http://localhost:${port}${mark}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "user-agent": "made-up-tool" },
    body: HELLO,
  });
  return { status: response.status, text: await response.text() };
}

test(
  "ssh -R to the port: the forwarded port has to be listed unless it is ours; ssh does not lend the tool its name or directory",
  { skip: noSshd },
  async (t) => {
    const remotePort = await freePort();
    const listed = await freePort();
    const config = { ledger: { project: true }, listen: { allowedHosts: [`localhost:${listed}`] } };
    const daemon = await startDaemon(t, { config });
    const ssh = await startSshd(t);
    for (const port of [remotePort, listed])
      await ssh.forward(["-R", `127.0.0.1:${port}:127.0.0.1:${daemon.port}`], { port });
    const refused = await sayHello(remotePort, "/t/codex");
    assert.equal(refused.status, 403);
    assert.match(refused.text, /listen\.allowedHosts/);
    for (const mark of ["/t/codex", ""]) {
      const { status, text } = await sayHello(listed, mark);
      assert.equal(status, 200, text);
      assert.match(text, /message_stop/);
    }
    const records = await daemon.ledger();
    assert.deepEqual(
      records.map(({ tool, tool_by, project }) => [tool, tool_by, project]),
      [
        ["codex", "path", null],
        ["unknown", "unknown", null],
      ],
    );
    for (const { process: peer } of records) assert.match(peer?.executable ?? "", /\/ssh$/);
  },
);

test("ssh -L from the other host: sshd does not lend the tool its name", { skip: noSshd }, async (t) => {
  const port = await freePort();
  const daemon = await startDaemon(t, { config: { listen: { allowedHosts: [`localhost:${port}`] } } });
  const ssh = await startSshd(t);
  await ssh.forward(["-L", `127.0.0.1:${port}:127.0.0.1:${daemon.port}`], { port });
  assert.equal((await sayHello(port)).status, 200);
  const [record] = await daemon.ledger();
  assert.deepEqual([record?.tool, record?.tool_by], ["unknown", "unknown"]);
  assert.match(record?.process?.executable ?? "sshd", /sshd/);
});

test("ssh -R to the socket: any port on the other host will do", { skip: noSshd }, async (t) => {
  const { daemon, socket } = await startSocketDaemon(t);
  const ssh = await startSshd(t);
  const port = await freePort();
  await ssh.forward(["-R", `127.0.0.1:${port}:${socket}`], { port });
  const { status, text } = await sayHello(port, "/t/codex");
  assert.equal(status, 200, text);
  const [record] = await daemon.ledger();
  assert.deepEqual([record?.tool, record?.tool_by, record?.process], ["codex", "path", null]);
});

test("ssh -R from socket to socket, with a bridge on the other host", { skip: noSshd }, async (t) => {
  const { daemon, socket } = await startSocketDaemon(t);
  const ssh = await startSshd(t);
  const there = join(scratchDirectory(t), "there");
  mkdirSync(there, { mode: 0o700 });
  const path = join(there, "tollkeeper.sock");
  await ssh.forward(["-R", `${path}:${socket}`], { path });
  const bridge = await startBridge(t, path);
  assert.match((await sayHello(bridge.port, "/t/codex")).text, /message_stop/);
  assert.equal((await daemon.ledger())[0]?.tool, "codex");
});
