import type { ProcessSignature } from "../core/identity/signatures.ts";
import type { PeerInfo } from "../ports.ts";
import { createLinuxPeers } from "./peer/linux-peers.ts";
import { createMacPeers } from "./peer/mac-peers.ts";
import { runSystemTool } from "./programs/run-system-tool.ts";
import { UNKNOWN_OWNER } from "./peer/unknown-owner.ts";

// peer/project-of-directory.ts is an entry point of its own, for a command that looks up no client.

/**
 * Looks up clients with the means of this operating system. On an unsupported one, every lookup has uid null.
 * @param diagnostics see {@link SocketDiagnostics}; null without such a socket
 */
export function createPeerInfo(
  signatures: readonly ProcessSignature[],
  diagnostics: number | null = null,
): PeerInfo {
  if (process.platform === "linux") return createLinuxPeers(signatures, diagnostics);
  if (process.platform === "darwin") return createMacPeers(runSystemTool, signatures);
  return { lookUp: () => Promise.resolve(UNKNOWN_OWNER) };
}
