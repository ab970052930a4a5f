import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { TestContext } from "node:test";
import type { PeerInfo, PeerProcess, ProcessQuery } from "../../../src/ports.ts";

/** The question about a connection, as the server's end of it knows them. */
export type Ends = readonly [
  client: { address: string; port: number },
  server: { address: string; port: number },
];

/** A server of one's own on this address; ends with the test. */
export async function startServer(
  t: TestContext,
  listenOn = "127.0.0.1",
): Promise<{ server: Server; port: number }> {
  const server = createServer().listen(0, listenOn);
  t.after(() => server.close());
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

/** The next connection that the server is given; ends with the test. */
export async function nextConnection(t: TestContext, server: Server): Promise<Ends> {
  const [socket] = (await once(server, "connection")) as [Socket];
  t.after(() => socket.destroy());
  // A client that resets its connection is an error here, and none of the test's.
  socket.on("error", () => {});
  const { remoteAddress = "", remotePort = 0, localAddress = "", localPort = 0 } = socket;
  return [
    { address: remoteAddress, port: remotePort },
    { address: localAddress, port: localPort },
  ];
}

/** Both ends of a connection from this process to a server on `listenOn`, made to `address`; ended with the test. */
export async function ownConnection(
  t: TestContext,
  listenOn: string,
  address: string,
): Promise<{ client: Socket; ends: Ends }> {
  const { server, port } = await startServer(t, listenOn);
  const client = connect(port, address);
  t.after(() => client.destroy());
  return { client, ends: await nextConnection(t, server) };
}

/** Connects to each of the given ports when told to go on, and stays. */
export const CONNECTING = `
  const net = require("node:net");
  const connect = (port) => net.connect(port, "127.0.0.1").on("error", () => {}).resume();
  connect(Number(process.env.PORT));
  process.stdin.on("data", () => connect(Number(process.env.PORT)));`;

/** A program that connects to the server, once it has done so; ends with the test. It connects again at `again()`. */
export async function startClient(
  t: TestContext,
  { server, port }: { server: Server; port: number },
  command: readonly string[] = [process.execPath, "-e", CONNECTING],
  options: SpawnOptions = {},
): Promise<{ child: ChildProcess; pid: number; ends: Ends; again(): Promise<Ends> }> {
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

/** Asks who is at the client's end and which process that is. */
export async function findProcess(
  peers: PeerInfo,
  ends: Ends,
  changes: Partial<ProcessQuery> = {},
): Promise<PeerProcess | null> {
  const owner = await peers.lookUp(...ends);
  return owner.findProcess({ isOver: () => false, ...changes });
}

/** Asks which directory the process works on that is at the client's end. */
export async function findProject(peers: PeerInfo, ends: Ends, pid: number): Promise<string | null> {
  return (await peers.lookUp(...ends)).findProject(pid);
}
