import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openControlSocket } from "../../../src/adapters/control-socket.ts";
import { askBriefly } from "../../../src/adapters/control-socket/ask-briefly.ts";
import { controlHandlers } from "../../helpers/daemon/control-handlers.ts";
import { MemoryLog } from "../../helpers/gate/memory.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

const LIMIT_MS = 60_000;

/** Listens on a socket and answers each connection in its own way. */
async function listen(t: TestContext, answer: (socket: Socket) => void): Promise<string> {
  const path = join(scratchDirectory(t), "control.sock");
  const server = createServer(answer).listen(path);
  t.after(() => server.close());
  await once(server, "listening");
  return path;
}

test("a daemon's answer arrives whole, whatever is in it", async (t) => {
  const path = join(scratchDirectory(t), "control.sock");
  const facts = { text: "ü€\r\n\r\n".repeat(50_000), session: "" };
  const statusline = (query: URLSearchParams) => ({ ...facts, session: query.get("session") });
  const socket = await openControlSocket(path, controlHandlers({ statusline }), new MemoryLog());
  t.after(() => socket.close());
  const session = "a b&c=d?é";
  const answer = await askBriefly(path, `statusline?session=${encodeURIComponent(session)}`, LIMIT_MS);
  assert.deepEqual(answer, { kind: "answer", value: { ...facts, session } });
  const without = await askBriefly(path, "statusline", LIMIT_MS);
  assert.deepEqual(without, { kind: "answer", value: { ...facts, session: null } });
  assert.deepEqual(await askBriefly(path, "no-such-question", LIMIT_MS), { kind: "unclear" });
});

test("without a daemon the answer is that it is off", async (t) => {
  const directory = scratchDirectory(t);
  assert.deepEqual(await askBriefly(join(directory, "none.sock"), "statusline", LIMIT_MS), { kind: "off" });
  const file = join(directory, "file.sock");
  writeFileSync(file, "");
  assert.deepEqual(await askBriefly(file, "statusline", LIMIT_MS), { kind: "off" });
});

test("a daemon that does not answer in time is late", async (t) => {
  const path = await listen(t, () => {});
  assert.deepEqual(await askBriefly(path, "statusline", 10), { kind: "late" });
});

for (const [name, answer] of [
  ["an answer that is no JSON", (socket: Socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n{")],
  ["an answer without a body", (socket: Socket) => socket.end("HTTP/1.1 200 OK\r\n")],
  ["an error", (socket: Socket) => socket.end('HTTP/1.1 500 No\r\n\r\n{"a":1}')],
  ["no answer at all", (socket: Socket) => socket.destroy()],
] as const) {
  test(`${name} is unclear`, async (t) => {
    assert.deepEqual(await askBriefly(await listen(t, answer), "statusline", LIMIT_MS), { kind: "unclear" });
  });
}
