// The process of the upstream. Writes prepared responses to plain sockets. Started by `Worker`.
import { createServer, type AddressInfo } from "node:net";
import { serveConnection } from "./serve-connection.ts";

const server = createServer({ noDelay: true }, serveConnection);
server.listen(0, "127.0.0.1", () => {
  process.send?.((server.address() as AddressInfo).port);
});
process.on("disconnect", () => process.exit());
