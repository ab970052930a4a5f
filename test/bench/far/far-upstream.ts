// The process of a far upstream over TLS. The first message has its key and certificate, and it replies with its port. On any further
// message it closes all connections, as upstreams do with idle ones, and replies when they are gone.
import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { Certificate } from "../../helpers/upstream/certificate.ts";
import { serveConnection } from "../serve-connection.ts";
import { delayConnection } from "./delay-line.ts";

const ONE_WAY_MS = 20;

process.on("disconnect", () => process.exit());
const [{ key, cert }] = (await once(process, "message")) as [Pick<Certificate, "key" | "cert">];
const port = await listen(createTlsServer({ key, cert }, serveConnection));
const open = new Set<Socket>();
const relay = createServer({ noDelay: true, allowHalfOpen: true }, (client) => {
  open.add(client);
  client.on("close", () => open.delete(client));
  delayConnection(client, port, ONE_WAY_MS);
});
process.on("message", () => {
  const closed = [...open].map((socket) => once(socket.end(), "close"));
  void Promise.all(closed).then(() => process.send?.("closed"));
});
process.send?.(await listen(relay));

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}
