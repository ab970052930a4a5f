// The process of a service over TLS that is near and far. The first message has its key, its certificate, its pace and the round trips in
// milliseconds, and it replies with a port for each. On any further message it replies with what it has answered since.
import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import type { Certificate } from "../../helpers/upstream/certificate.ts";
import { delayConnection } from "../far/delay-line.ts";
import { createService, type ServicePace } from "./session-service.ts";

interface Start extends Pick<Certificate, "key" | "cert"> {
  pace: ServicePace;
  roundTripsMs: readonly number[];
}

process.on("disconnect", () => process.exit());
const [start] = (await once(process, "message")) as [Start];
const { server, takeAnswered } = createService(start, start.pace);
const near = await listen(server);
const ports: number[] = [];
for (const roundTripMs of start.roundTripsMs) {
  if (roundTripMs === 0) {
    ports.push(near);
    continue;
  }
  const options = { noDelay: true, allowHalfOpen: true };
  ports.push(await listen(createServer(options, (client) => delayConnection(client, near, roundTripMs / 2))));
}
process.on("message", () => process.send?.(takeAnswered()));
process.send?.(ports);

async function listen(one: Server): Promise<number> {
  await once(one.listen(0, "127.0.0.1"), "listening");
  return (one.address() as AddressInfo).port;
}
