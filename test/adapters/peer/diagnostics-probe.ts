// A program that asks the kernel about connections of its own, each time on a socket that systemd would have passed to it, and prints what
// it found as JSON. See socket-diagnostics.test.ts.
import { once } from "node:events";
import fs, { readlinkSync, writeSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import {
  connect,
  createServer,
  type AddressInfo,
  type LookupFunction,
  type Server,
  type Socket,
} from "node:net";
import { takeActivatedSockets } from "../../../src/adapters/activated-sockets.ts";
import { writeQuery } from "../../../src/adapters/peer/sock-diag-message.ts";
import { SocketDiagnostics } from "../../../src/adapters/peer/socket-diagnostics.ts";
import { createPeerInfo } from "../../../src/adapters/peer.ts";
import type { Endpoint } from "../../../src/adapters/socket-table.ts";
import { PROCESS_SIGNATURES } from "../../../src/tools/all.ts";

/** What the probe found in each case, by the name of the case. */
export type Findings = Record<string, unknown>;

/** A connection of this process to itself. */
interface Connection {
  client: Socket;
  /** As the server's end reports them. */
  ends: [client: Endpoint, server: Endpoint];
}

const { diagnostics } = takeActivatedSockets(process.env, process.pid);
const socket = diagnostics ?? -1;

async function listen(address = "127.0.0.1"): Promise<Server> {
  const server = createServer().listen(0, address);
  await once(server, "listening");
  return server;
}

/** `uid`: whose connection it is; needs root unless it is our own. */
async function connectToSelf(
  address: string,
  server: Server,
  uid = process.getuid?.() ?? 0,
): Promise<Connection> {
  const accepting = once(server, "connection") as Promise<[Socket]>;
  // Node creates the socket within the callback, and the kernel assigns it to the effective user.
  const lookup: LookupFunction = (_host, _options, callback) => {
    process.seteuid?.(uid);
    callback(null, address, address.includes(":") ? 6 : 4);
    process.seteuid?.(process.getuid?.() ?? 0);
  };
  const client = connect({
    port: portOf(server),
    host: "loopback.test",
    lookup,
    autoSelectFamily: false,
  });
  const [accepted] = await accepting;
  accepted.on("error", () => {});
  const { remoteAddress = "", remotePort = 0, localAddress = "", localPort = 0 } = accepted;
  return {
    client,
    ends: [
      { address: remoteAddress, port: remotePort },
      { address: localAddress, port: localPort },
    ],
  };
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** True when the client has the socket with this inode. */
function hasSocket({ client }: Connection, inode: number | undefined): boolean {
  // Undocumented, and fit for tests only.
  const { fd } = Reflect.get(client, "_handle") as { fd: number };
  return readlinkSync(`/proc/self/fd/${fd}`) === `socket:[${inode}]`;
}

/** What is found of a connection to `address`, where the server listens on another spelling of it. */
async function find(listenOn: string, address: string, uid?: number): Promise<object> {
  const connection = await connectToSelf(address, await listen(listenOn), uid);
  const owner = new SocketDiagnostics(socket).ownerOf(...connection.ends);
  return { uid: owner?.uid, isClients: hasSocket(connection, owner?.inode) };
}

async function findAfter(close: (client: Socket) => void): Promise<number | null> {
  const { client, ends } = await connectToSelf("127.0.0.1", await listen());
  const known = await connectToSelf("127.0.0.1", await listen());
  const asked = new SocketDiagnostics(socket);
  asked.ownerOf(...known.ends);
  close(client.resume());
  await once(client, "close");
  return asked.ownerOf(...ends)?.uid ?? null;
}

/** An answer that an earlier process did not read is of another connection. */
async function findAfterOldAnswers(): Promise<boolean> {
  const [old, connection] = [
    await connectToSelf("127.0.0.1", await listen()),
    await connectToSelf("127.0.0.1", await listen()),
  ];
  for (let sequence = 0; sequence < 5; sequence += 1) writeSync(socket, writeQuery(...old.ends, sequence));
  const owner = new SocketDiagnostics(socket).ownerOf(...connection.ends);
  return hasSocket(connection, owner?.inode);
}

/** The kernel answers with the socket that listens on the port which the client is said to have. */
async function findListening(): Promise<unknown> {
  const { ends } = await connectToSelf("127.0.0.1", await listen());
  return new SocketDiagnostics(socket).ownerOf(
    { address: "127.0.0.1", port: portOf(await listen()) },
    ends[1],
  );
}

/** After questions about connections of which the kernel knows neither end, as where it has no diagnostics of TCP. */
async function findAfterUnknown(questions: number): Promise<boolean> {
  const connection = await connectToSelf("127.0.0.1", await listen());
  const asked = new SocketDiagnostics(socket);
  for (let i = 0; i < questions; i += 1)
    asked.ownerOf({ address: "127.0.0.1", port: 1 }, { address: "127.0.0.1", port: 2 });
  return hasSocket(connection, asked.ownerOf(...connection.ends)?.inode);
}

/** As where systemd numbers users differently: our own end is another user's. */
async function findAsOther(): Promise<unknown> {
  const { ends } = await connectToSelf("127.0.0.1", await listen());
  process.seteuid?.(65_533);
  const owner = new SocketDiagnostics(socket).ownerOf(...ends);
  process.seteuid?.(0);
  return owner;
}

/** Looks a connection up as the daemon does. */
async function lookUp(): Promise<{ lookedUp: number | null; tablesRead: number }> {
  const { ends } = await connectToSelf("127.0.0.1", await listen());
  let tablesRead = 0;
  const { openSync } = fs;
  fs.openSync = (...args) => {
    if (String(args[0]).startsWith("/proc/net/tcp")) tablesRead += 1;
    return openSync(...args);
  };
  syncBuiltinESMExports();
  const { uid } = await createPeerInfo(PROCESS_SIGNATURES, diagnostics).lookUp(...ends);
  return { lookedUp: uid, tablesRead };
}

const findings: Findings = {
  isHandedOver: diagnostics !== null,
  v4: await find("127.0.0.1", "127.0.0.1"),
  v6: await find("::1", "::1"),
  serverOfBothFamilies: await find("::", "127.0.0.1"),
  clientOfBothFamilies: await find("127.0.0.1", "::ffff:127.0.0.1"),
  otherUser: process.getuid?.() === 0 ? await find("127.0.0.1", "127.0.0.1", 65_533) : null,
  ended: await findAfter((client) => client.end()),
  reset: await findAfter((client) => client.resetAndDestroy()),
  afterOldAnswers: await findAfterOldAnswers(),
  listening: await findListening(),
  afterTwoUnknown: await findAfterUnknown(2),
  afterThreeUnknown: await findAfterUnknown(3),
  asOther: process.getuid?.() === 0 ? await findAsOther() : null,
  ...(await lookUp()),
};
console.log(JSON.stringify(findings));
process.exit(0);
