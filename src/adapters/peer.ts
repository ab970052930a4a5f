import type { ProcessSignature } from "../core/identity/signatures.ts";
import type { PeerInfo } from "../ports.ts";
import { createLinuxPeers } from "./peer/linux-peers.ts";
import { createMacPeers } from "./peer/mac-peers.ts";
import { runSystemTool } from "./peer/run-system-tool.ts";
import { UNKNOWN_OWNER } from "./peer/unknown-owner.ts";

/** Looks up clients with the means of this operating system. On an unsupported one, every lookup has uid null. */
export function createPeerInfo(signatures: readonly ProcessSignature[]): PeerInfo {
  if (process.platform === "linux") return createLinuxPeers(signatures);
  if (process.platform === "darwin") return createMacPeers(runSystemTool, signatures);
  return { lookUp: () => Promise.resolve(UNKNOWN_OWNER) };
}
