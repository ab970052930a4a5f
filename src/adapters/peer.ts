import type { PeerInfo } from "../ports.ts";
import { createLinuxPeers } from "./peer/linux-peers.ts";
import { createMacPeers } from "./peer/mac-peers.ts";
import { runQuietly } from "./peer/run-quietly.ts";

const nothing = () => Promise.resolve(null);

/** Asks the system who is at the other end of a loopback connection. Where there is no way to, it cannot tell. */
export function createPeerInfo(): PeerInfo {
  if (process.platform === "linux") return createLinuxPeers();
  if (process.platform === "darwin") return createMacPeers(runQuietly);
  return { lookUp: () => Promise.resolve({ uid: null, findProcess: nothing, findProject: nothing }) };
}
