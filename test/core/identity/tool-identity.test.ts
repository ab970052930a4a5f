import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { HeaderIndex } from "../../../src/core/http/header-index.ts";
import type { ToolEvidence } from "../../../src/core/ledger/record.ts";
import { identifyTool, toolName, withProcess } from "../../../src/core/identity/tool-identity.ts";

const RECORDED = new URL("../../../../shared/facts/recorded-headers.json", import.meta.url);
const isRecordedThere = existsSync(RECORDED);

interface Recorded {
  id: string;
  tool: string;
  mode: string;
  method: string;
  headers: [string, string][];
}

const identify = (headers: Record<string, string>, mark: string | null = null) =>
  identifyTool(mark, new HeaderIndex(Object.entries(headers).flat()));

test(
  "every recorded request of a real program is given its tool, by its headers alone",
  { skip: isRecordedThere ? false : "recorded-headers.json is not beside the project" },
  () => {
    const recorded = JSON.parse(readFileSync(RECORDED, "utf8")) as Recorded[];
    const probes = recorded.filter(({ method }) => method === "HEAD");
    assert.equal(recorded.length, 59);
    // The connectivity probe says only `Bun/1.4.4`; it is answered here and never booked on a tool.
    assert.deepEqual(
      probes.map(({ mode }) => mode),
      ["connectivity probe at start"],
    );
    for (const { id, tool, mode, method, headers } of recorded) {
      if (method === "HEAD") continue;
      // One recording was made with our own mark; it must be found without it too.
      const unmarked = headers.filter(([name]) => name !== "x-tollkeeper-tool");
      const found = identifyTool(null, new HeaderIndex(unmarked.flat()));
      assert.equal(found.tool, tool, `${id}, ${mode}`);
      assert.ok(found.by === "signature" || found.by === "library", `${id}: ${found.by}`);
    }
  },
);

test("the path mark outranks every other evidence", () => {
  const found = identify({ authorization: "Bearer tk-other", "user-agent": "codex/1" }, "zed");
  assert.deepEqual([found.tool, found.by], ["zed", "path"]);
});

test("a placeholder tk-TOOL names the tool in either credential header", () => {
  assert.deepEqual(identify({ authorization: "Bearer tk-zed" }).tool, "zed");
  assert.deepEqual(identify({ "x-api-key": "tk-zed", "user-agent": "codex/1" }), {
    tool: "zed",
    by: "token",
    session: null,
  });
});

test("a placeholder whose rest cannot be a name does not hide another that can", () => {
  const found = identify({ authorization: "Bearer tk-no good", "x-api-key": "tk-zed" });
  assert.deepEqual([found.tool, found.by], ["zed", "token"]);
});

test("a local token is no tool's name, in whatever case", () => {
  for (const token of [`tollkeeper-zed-${"a".repeat(43)}`, `Tollkeeper-zed-${"A1".repeat(21)}b`]) {
    assert.equal(toolName(token), null);
    assert.equal(identify({ "x-tollkeeper-tool": token, "x-api-key": `tk-${token}` }).tool, "unknown");
  }
});

test("a credential counts by its scheme", () => {
  assert.equal(identify({ authorization: "bEARER   tk-zed" }).tool, "zed");
  for (const authorization of ["tk-zed", "Bearertk-zed", "Basic tk-zed"]) {
    assert.equal(identify({ authorization }).tool, "unknown");
  }
});

test("a placeholder whose rest cannot be a name is no evidence", () => {
  assert.equal(identify({ "x-api-key": "tk-no good", "user-agent": "curl/8" }).tool, "curl");
});

test("the header x-tollkeeper-tool names the tool, in lower case", () => {
  assert.deepEqual(identify({ "x-tollkeeper-tool": "My-Tool" }), {
    tool: "my-tool",
    by: "header",
    session: null,
  });
});

test("a request without any evidence is unknown", () => {
  assert.deepEqual(identify({}), { tool: "unknown", by: "unknown", session: null });
});

test("the session is taken from the first header that says one", () => {
  assert.equal(identify({ "session-id": "s1", "x-claude-code-session-id": "s2" }).session, "s2");
});

const by = (evidence: ToolEvidence, tool = "named") => ({ tool, by: evidence, session: "s1" });

for (const evidence of ["path", "token", "header", "signature"] as const) {
  test(`a process does not outrank the evidence ${evidence}`, () => {
    const identity = by(evidence);
    assert.equal(withProcess(identity, { tool: "claude-code", isOwn: false }), identity);
  });
}

for (const evidence of ["library", "unknown"] as const) {
  test(`a process that is a tool's outranks the evidence ${evidence}`, () => {
    const identity = withProcess(by(evidence), { tool: "claude-code", isOwn: false });
    assert.deepEqual(identity, by("process", "claude-code"));
  });
}

test("a process that has nothing but its own name names what gives no library, and nothing else", () => {
  const own = { tool: "report", isOwn: true };
  assert.deepEqual(withProcess(by("unknown"), own), by("process", "report"));
  assert.deepEqual(withProcess(by("library", "curl"), own), by("library", "curl"));
});

test("without a process everything stays as it is", () => {
  const identity = by("unknown");
  assert.equal(withProcess(identity, null), identity);
});

test("what LangChain sends, and Pi for newer models, is a library's: whether it is Pi, the process tells", () => {
  const identity = identify({
    "user-agent": "Anthropic/JS 0.91.1",
    "anthropic-dangerous-direct-browser-access": "true",
  });
  assert.deepEqual([identity.tool, identity.by], ["langchain", "library"]);
  const pi = withProcess(identity, { tool: "pi", isOwn: false });
  assert.deepEqual([pi.tool, pi.by], ["pi", "process"]);
});
