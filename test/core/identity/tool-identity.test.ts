import assert from "node:assert/strict";
import { test } from "node:test";
import { parseToolName } from "../../../src/core/config/names.ts";
import { HeaderIndex } from "../../../src/core/http/header-index.ts";
import { PRESENT, type RequestSignatures } from "../../../src/core/identity/signatures.ts";
import { identifyTool, withProcess } from "../../../src/core/identity/tool-identity.ts";
import type { ToolEvidence } from "../../../src/core/ledger/record.ts";

const ORIGIN = { without: [], source: "this test", date: "2026-11-22" };

const SIGNATURES: RequestSignatures = {
  tools: [
    {
      tool: "pi",
      when: [
        ["x-initiator", PRESENT],
        ["user-agent", /^sdk\//],
      ],
      ...ORIGIN,
      without: ["x-other"],
    },
    { tool: "codex", when: [["user-agent", /^codex/]], ...ORIGIN },
    { tool: "zed", when: [["user-agent", /^co/]], ...ORIGIN },
  ],
  libraries: [
    { tool: "curl", when: [["user-agent", /^curl\//]], ...ORIGIN },
    { tool: "any", when: [["user-agent", /^(?:codex|sdk)/]], ...ORIGIN },
  ],
};

const identify = (headers: Record<string, string>, mark: string | null = null) =>
  identifyTool(mark, new HeaderIndex(Object.entries(headers).flat()), SIGNATURES);

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

test("a placeholder whose rest is no valid tool name does not hide another placeholder", () => {
  const found = identify({ authorization: "Bearer tk-no good", "x-api-key": "tk-zed" });
  assert.deepEqual([found.tool, found.by], ["zed", "token"]);
});

test("a local token is never taken for a tool's name, in upper or lower case", () => {
  for (const token of [`tollkeeper-zed-${"a".repeat(43)}`, `Tollkeeper-zed-${"A1".repeat(21)}b`]) {
    assert.equal(parseToolName(token), null);
    assert.equal(identify({ "x-tollkeeper-tool": token, "x-api-key": `tk-${token}` }).tool, "unknown");
  }
});

test("a key is never taken for a tool's name, in upper or lower case", () => {
  for (const key of [`sk-${"0a".repeat(16)}`, `glpat-${"aB1".repeat(7)}`, `AIza${"aB1".repeat(11)}`]) {
    assert.equal(parseToolName(key), null);
    assert.equal(identify({ "x-tollkeeper-tool": key, "x-api-key": `tk-${key}` }).tool, "unknown");
  }
});

test("a placeholder in Authorization counts only with the scheme Bearer, in any case", () => {
  assert.equal(identify({ authorization: "bEARER   tk-zed" }).tool, "zed");
  for (const authorization of ["tk-zed", "Bearertk-zed", "Basic tk-zed"]) {
    assert.equal(identify({ authorization }).tool, "unknown");
  }
});

test("a placeholder whose rest is no valid tool name is no evidence", () => {
  assert.equal(identify({ "x-api-key": "tk-no good", "user-agent": "curl/8" }).tool, "curl");
});

test("the header x-tollkeeper-tool names the tool, in lower case", () => {
  assert.deepEqual(identify({ "x-tollkeeper-tool": "My-Tool" }), {
    tool: "my-tool",
    by: "header",
    session: null,
  });
});

test("of several signatures that match, the first names the tool, and tools come before libraries", () => {
  const found = identify({ "user-agent": "codex/1" });
  assert.deepEqual([found.tool, found.by], ["codex", "signature"]);
});

test("a signature matches when all of its patterns match and no excluded header is present", () => {
  const headers = { "user-agent": "sdk/1", "x-initiator": "user" };
  assert.equal(identify(headers).tool, "pi");
  for (const other of [{ "user-agent": "sdk/1" }, { ...headers, "x-other": "" }]) {
    const found = identify(other);
    assert.deepEqual([found.tool, found.by], ["any", "library"]);
  }
});

test("a request without any evidence is unknown", () => {
  assert.deepEqual(identify({}), { tool: "unknown", by: "unknown", session: null });
});

test("the session is taken from the preferred of the session headers", () => {
  assert.equal(identify({ "session-id": "s1", "x-claude-code-session-id": "s2" }).session, "s2");
});

const by = (evidence: ToolEvidence, tool = "named") => ({ tool, by: evidence, session: "s1" });

for (const evidence of ["path", "token", "header", "signature"] as const) {
  test(`a process does not outrank the evidence ${evidence}`, () => {
    const identity = by(evidence);
    assert.equal(withProcess(identity, { tool: "claude-code", isProgramName: false }), identity);
  });
}

for (const evidence of ["library", "unknown"] as const) {
  test(`a process that belongs to a known tool outranks the evidence ${evidence}`, () => {
    const identity = withProcess(by(evidence), { tool: "claude-code", isProgramName: false });
    assert.deepEqual(identity, by("process", "claude-code"));
  });
}

test("an executable's name identifies an unknown request, but does not outrank a library", () => {
  const name = { tool: "report", isProgramName: true };
  assert.deepEqual(withProcess(by("unknown"), name), by("process", "report"));
  assert.deepEqual(withProcess(by("library", "curl"), name), by("library", "curl"));
});

test("without a process the identity is returned unchanged", () => {
  const identity = by("unknown");
  assert.equal(withProcess(identity, null), identity);
});
