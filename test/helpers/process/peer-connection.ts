import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";
import type { PeerInfo, PeerProcess, ProcessQuery } from "../../../src/ports.ts";

/** The arguments of a lookup: both ends of a connection, as the server's end reports them. */
export type ConnectionEnds = readonly [
  client: { address: string; port: number },
  server: { address: string; port: number },
];

/** Starts a server on this address, which ends with the test. */
export async function startServer(
  t: TestContext,
  listenOn = "127.0.0.1",
): Promise<{ server: Server; port: number }> {
  const server = createServer().listen(0, listenOn);
  t.after(() => server.close());
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

/** Resolves to the ends of the server's next connection, which ends with the test. */
async function nextConnection(t: TestContext, server: Server): Promise<ConnectionEnds> {
  const [socket] = (await once(server, "connection")) as [Socket];
  t.after(() => socket.destroy());
  // A reset by the client is an error event here, but not a failure of the test.
  socket.on("error", () => {});
  const { remoteAddress = "", remotePort = 0, localAddress = "", localPort = 0 } = socket;
  return [
    { address: remoteAddress, port: remotePort },
    { address: localAddress, port: localPort },
  ];
}

/** Connects this process to a server of its own on `listenOn` by `address`. The connection ends with the test. */
export async function connectToSelf(
  t: TestContext,
  listenOn: string,
  address: string,
): Promise<{ client: Socket; ends: ConnectionEnds }> {
  const { server, port } = await startServer(t, listenOn);
  const client = connect(port, address);
  t.after(() => client.destroy());
  return { client, ends: await nextConnection(t, server) };
}

/** A program that connects to PORT at its start and for each chunk of its standard input, and keeps the connections. */
export const CONNECTING_CLIENT = `
  const net = require("node:net");
  const connect = (port) => net.connect(port, "127.0.0.1").on("error", () => {}).resume();
  connect(Number(process.env.PORT));
  process.stdin.on("data", () => connect(Number(process.env.PORT)));`;

/** Starts a program and resolves once it has connected to the server. `again` makes it connect once more. */
export async function startClient(
  t: TestContext,
  { server, port }: { server: Server; port: number },
  command: readonly string[] = [process.execPath, "-e", CONNECTING_CLIENT],
  options: SpawnOptions = {},
): Promise<{ child: ChildProcess; pid: number; ends: ConnectionEnds; again(): Promise<ConnectionEnds> }> {
  const [file = "", ...args] = command;
  const connected = nextConnection(t, server);
  const child = spawn(file, args, {
    stdio: ["pipe", "ignore", "inherit"],
    ...options,
    env: { PATH: process.env["PATH"], PORT: String(port) },
  });
  t.after(() => child.kill("SIGKILL"));
  return {
    child,
    pid: child.pid ?? 0,
    ends: await connected,
    again() {
      const next = nextConnection(t, server);
      child.stdin?.write("\n");
      return next;
    },
  };
}

/** Looks up the client's process. */
export async function findProcess(
  peers: PeerInfo,
  ends: ConnectionEnds,
  changes: Partial<ProcessQuery> = {},
): Promise<PeerProcess | null> {
  const owner = await peers.lookUp(...ends);
  return owner.findProcess({ isOver: () => false, ...changes });
}

/** Looks up the project of the client's process. */
export async function findProject(
  peers: PeerInfo,
  ends: ConnectionEnds,
  pid: number,
): Promise<string | null> {
  return (await peers.lookUp(...ends)).findProject(pid);
}
