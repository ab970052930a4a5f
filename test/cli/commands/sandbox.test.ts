import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { PROGRAM } from "../../helpers/daemon/program.ts";

function run(t: TestContext, ...args: string[]): ChildProcess {
  const child = spawn(process.execPath, [PROGRAM, "sandbox", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  return child;
}

async function linesUntil(child: ChildProcess, last: RegExp): Promise<string[]> {
  assert.ok(child.stdout);
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    if (last.test(line)) break;
  }
  return lines;
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  test(`sandbox prints an introduction, serves at its address, and exits with 0 on ${signal}`, async (t) => {
    const child = run(t, "--port", "0");
    const lines = await linesUntil(child, /Ctrl-C/);
    const baseUrl = /^sandbox at (http:\/\/127\.0\.0\.1:\d+\/v1)$/.exec(lines[0] ?? "")?.[1] ?? "";
    assert.match(lines.join("\n"), /stand-in/);
    assert.match(lines.join("\n"), /default +sk-sandbox-default +all/);
    for (const path of ["/models", "/responses", "/messages", "/messages/count_tokens"]) {
      assert.ok(
        lines.some((line) => line.includes("curl") && line.includes(`${baseUrl}${path} `)),
        path,
      );
    }
    const headers = { authorization: "Bearer sk-sandbox-default" };
    assert.equal((await fetch(`${baseUrl}/models`, { headers })).status, 200);
    child.kill(signal);
    assert.deepEqual(await once(child, "exit"), [0, null]);
  });
}

test("sandbox on a taken port fails with a hint", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  t.after(() => other.close());
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const child = run(t, "--port", String(port));
  assert.ok(child.stderr);
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  assert.match(said, new RegExp(`^error: the sandbox cannot listen on port ${port}: .*\nhint: .*--port 0`));
  assert.equal(code, 1);
});
