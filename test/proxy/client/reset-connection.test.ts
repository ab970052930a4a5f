import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { resetConnection } from "../../../src/proxy/client/reset-connection.ts";

const LIMIT = { timeout: 300_000 };

/** Returns both ends of a connection. */
async function openConnection(t: TestContext): Promise<{ server: Socket; client: Socket }> {
  const listener = createServer({ allowHalfOpen: true });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const accepted = once(listener, "connection") as Promise<[Socket]>;
  const client = connect((listener.address() as AddressInfo).port, "127.0.0.1");
  client.on("error", () => {});
  const [server] = await accepted;
  t.after(() => {
    listener.close();
    client.destroy();
  });
  return { server, client };
}

test("the client sees a reset", LIMIT, async (t) => {
  const { server, client } = await openConnection(t);
  const failed = once(client, "error") as Promise<[NodeJS.ErrnoException]>;
  resetConnection(server);
  const [error] = await failed;
  assert.equal(error.code, "ECONNRESET");
});

test("a connection whose end is being sent is closed all the same", LIMIT, async (t) => {
  const { server } = await openConnection(t);
  const closed = once(server, "close");
  server.end();
  resetConnection(server);
  await closed;
});
