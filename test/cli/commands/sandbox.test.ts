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
    for (const path of [
      "/models",
      "/responses",
      "/messages",
      "/messages/count_tokens",
      "/chat/completions",
      "/completions",
      "/embeddings",
    ]) {
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

/** Sends what a printed curl command would send. */
function runSample(line: string): Promise<Response> {
  const url = /http:\S+/.exec(line)?.[0] ?? "";
  const body = /-d '(.*)'$/.exec(line)?.[1];
  const headers = [...line.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name = "", value = ""]) => [
    name,
    value,
  ]);
  return fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: Object.fromEntries(headers) as Record<string, string>,
    ...(body !== undefined && { body }),
  });
}

for (const [args, routes] of [
  [[], 8],
  [["--profile", "anthropic"], 3],
  [["--profile", "openai"], 5],
  [["--profile", "openrouter"], 6],
  [["--profile", "ollama"], 4],
] as const) {
  test(`sandbox ${args.join(" ")} prints a request for each of its ${routes} routes, and each works`, async (t) => {
    const lines = await linesUntil(run(t, "--port", "0", ...args), /Ctrl-C/);
    const samples = lines.filter((line) => line.startsWith("  curl "));
    assert.equal(samples.length, routes);
    for (const sample of samples) {
      const response = await runSample(sample);
      assert.equal(response.status, 200, `${sample}: ${await response.text()}`);
    }
    assert.equal(lines.includes("It needs no key."), args[1] === "ollama");
  });
}

test("sandbox with an unknown profile names the known ones", async (t) => {
  const child = run(t, "--port", "0", "--profile", "gemini");
  assert.ok(child.stderr);
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  assert.match(
    said,
    /^error: --profile cannot be "gemini"; choose one of: anthropic, openai, openrouter, ollama\n/,
  );
  assert.equal(code, 2);
});

test("sandbox on a taken port fails with a hint", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  t.after(() => other.close());
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const child = run(t, "--port", String(port), "--profile", "ollama");
  assert.ok(child.stderr);
  const [said, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  assert.match(
    said,
    new RegExp(`^error: the sandbox cannot listen on port ${port}: .*\nhint: .*--profile ollama --port 0`),
  );
  assert.equal(code, 1);
});
