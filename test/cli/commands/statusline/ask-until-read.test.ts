import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { askUntilRead } from "../../../../src/cli/commands/statusline/ask-until-read.ts";
import { scratchDirectory } from "../../../helpers/process/scratch-directory.ts";

/** A daemon that reads the ledger during its first answers. Returns its socket, and how many questions it has got. */
async function startReading(t: TestContext, answers: number) {
  const path = join(scratchDirectory(t), "control.sock");
  let asked = 0;
  const server = createServer((socket) => {
    asked += 1;
    socket.end(`HTTP/1.0 200 OK\r\n\r\n${JSON.stringify({ isReading: asked <= answers, asked })}`);
  });
  t.after(() => server.close());
  server.listen(path);
  await once(server, "listening");
  return { path, asked: () => asked };
}

test("the first line waits until the ledger has been read", async (t) => {
  const { path } = await startReading(t, 3);
  const answer = await askUntilRead(path, "statusline", 60_000);
  assert.deepEqual(answer, { kind: "answer", value: { isReading: false, asked: 4 } });
});

test("without time to wait, the line has what is known", async (t) => {
  const { path, asked } = await startReading(t, Infinity);
  const answer = await askUntilRead(path, "statusline", 300);
  // On a machine that stands still, even the first answer comes too late.
  if (answer.kind === "answer") assert.deepEqual(answer.value, { isReading: true, asked: asked() });
});
