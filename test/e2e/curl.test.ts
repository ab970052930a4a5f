import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { asTypedInTerminal } from "../helpers/process/tool-process.ts";
import { readEvents } from "../sandbox/sandbox-client.ts";

/** Returns the curl lines of a page. */
/** How many lines the daemon prints. */
const PRINTED = 8;

const linesOf = (page: string) =>
  readFileSync(new URL(`../../${page}`, import.meta.url), "utf8").match(/^curl .*$/gm) ?? [];

function reasonToSkip(): string | false {
  try {
    execFileSync("curl", ["--version"], { stdio: "ignore" });
    return false;
  } catch {
    return "curl is not installed";
  }
}

/** Reads the curl lines that the daemon prints at its start. */
async function readPrintedLines(daemon: Daemon): Promise<string[]> {
  const output = await daemon.waitForOutput(/ setup\n/);
  return output.split("\n").flatMap((line) => /^ +(curl .*)/.exec(line)?.[1] ?? []);
}

/** What docs/sandbox.md has beside the lines that the daemon prints: one for Amazon Bedrock. */
function readFurtherLines(daemon: Daemon): string[] {
  return linesOf("docs/sandbox.md")
    .slice(PRINTED)
    .map((line) => line.replace(":8655/", `:${daemon.port}/`));
}

/** Runs a line as a person would type it, without the tester's own settings. */
async function runTyped(t: TestContext, line: string, { home }: Daemon): Promise<string> {
  const env = { PATH: process.env["PATH"], HOME: home };
  const { stdout } = await promisify(execFile)(...asTypedInTerminal(t, line), { env });
  return stdout;
}

test(
  "the curl lines that an unconfigured daemon prints, and those of docs/sandbox.md, work, and `usage` shows them under curl",
  { skip: reasonToSkip() },
  async (t) => {
    const daemon = await startDaemon(t);
    const outputs: string[] = [];
    const lines = [...(await readPrintedLines(daemon)), ...readFurtherLines(daemon)];
    for (const line of lines) outputs.push(await runTyped(t, line, daemon));
    const [
      models = "",
      response = "",
      message = "",
      count = "",
      chat = "",
      completion = "",
      vectors = "",
      content = "",
      conversation = "",
    ] = outputs;
    assert.equal(outputs.length, PRINTED + 1);
    assert.ok((JSON.parse(models) as { data: unknown[] }).data.length > 0);
    assert.equal(readEvents(message).at(-1)?.name, "message_stop");
    assert.equal(readEvents(response).at(-1)?.name, "response.completed");
    assert.ok((JSON.parse(count) as { input_tokens: number }).input_tokens > 0);
    assert.match(chat, /"usage":\{"prompt_tokens":.*\n\ndata: \[DONE\]\n\n$/);
    assert.ok((JSON.parse(completion) as { choices: unknown[] }).choices.length > 0);
    assert.ok((JSON.parse(vectors) as { data: unknown[] }).data.length > 0);

    assert.match(content, /"totalTokenCount":/);
    assert.match(conversation, /"totalTokens":/);

    const records = await daemon.ledger();
    assert.deepEqual(
      records.map(({ tool, route, usage, status }) => `${tool} ${route} ${usage} ${status}`),
      [
        "curl /models none 200",
        "curl /responses final 200",
        "curl /messages final 200",
        "curl /messages/count_tokens none 200",
        "curl /chat/completions final 200",
        "curl /completions final 200",
        "curl /embeddings final 200",
        "curl /v1beta/models/{id}:generateContent final 200",
        "curl /model/{id}/converse final 200",
      ],
    );
    const sum = (name: "input_uncached" | "output") =>
      records.reduce((total, { tokens }) => total + (tokens?.[name] ?? 0), 0);
    const usage = await daemon.command("usage");
    assert.equal(usage.code, 0, usage.stderr);
    const row = /^curl .*$/m.exec(usage.stdout)?.[0].split(/ +/).slice(0, 6);
    assert.deepEqual(row, ["curl", "free", "7", `${sum("input_uncached")}`, "0%", `${sum("output")}`]);
  },
);

test("docs/sandbox.md lists the curl lines that the daemon prints, and the README has one of them", async (t) => {
  const daemon = await startDaemon(t);
  const printed = (await readPrintedLines(daemon)).map((line) => line.replace(`:${daemon.port}/`, ":8655/"));
  assert.equal(printed.length, PRINTED);
  assert.deepEqual(linesOf("docs/sandbox.md").slice(0, PRINTED), printed);
  const [line = "", ...others] = linesOf("README.md");
  assert.deepEqual(others, []);
  assert.ok(printed.includes(line), line);
});
