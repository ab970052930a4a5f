import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

/** Starts another program on a port of loopback. `leave` makes it give the port up; what it left in a browser stays there. */
export async function startEarlierProgram(
  t: TestContext,
  respond: (path: string, res: ServerResponse) => void,
) {
  const server = createServer((req, res) => respond(req.url ?? "", res));
  await once(server.listen(0, "127.0.0.1"), "listening");
  const leave = async () => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  t.after(() => server.listening && leave());
  return { port: (server.address() as AddressInfo).port, leave };
}

/** Responds with a page. */
export function sendPage(res: ServerResponse, html: string): void {
  res.writeHead(200, { "content-type": "text/html" }).end(html);
}
