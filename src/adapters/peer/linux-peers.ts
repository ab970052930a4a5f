import type { ProcessSignature } from "../../core/identity/signatures.ts";
import { GONE_UID, UNMAPPED_UID, type PeerInfo, type PeerOwner } from "../../ports.ts";
import type { Endpoint } from "../socket-table.ts";
import type { SocketOwner } from "./find-socket-rows.ts";
import { readBranch } from "./git-branch.ts";
import { ProcessSearch } from "./find-process.ts";
import { readWorkingDirectory } from "./process-files.ts";
import { Projects } from "./projects.ts";
import { SocketDiagnostics } from "./socket-diagnostics.ts";
import { Burst } from "./burst.ts";
import { SocketOwners } from "./socket-owners.ts";
import type { SocketQuery } from "./socket-query.ts";
import { isInSandbox, overflowUid } from "../user-namespace.ts";
import { UNKNOWN_OWNER } from "./unknown-owner.ts";

/**
 * Finds clients on Linux in `/proc` (docs/platform.md section 9). A daemon in a user namespace of its own, which
 * PrivateUsers= in systemd/sandbox.conf creates, only sees whether a connection is its own user's: all other users have the
 * same uid there, and processes hide their executables and files from it (PTRACE_MODE_READ_FSCREDS in ptrace(2)).
 */
export function createLinuxPeers(
  signatures: readonly ProcessSignature[],
  diagnosticsSocket: number | null,
): PeerInfo {
  const diagnostics = diagnosticsSocket === null ? null : new SocketDiagnostics(diagnosticsSocket);
  const owners = new SocketOwners();
  const burst = new Burst();
  const processes = new ProcessSearch(signatures);
  const projects = new Projects();
  const unmapped = overflowUid();
  const isSandboxed = isInSandbox();

  async function findProject(pid: number): Promise<string | null> {
    const directory = readWorkingDirectory(pid);
    return directory === null ? null : projects.findRoot(directory);
  }

  function recallProject(pid: number): string | null {
    const directory = readWorkingDirectory(pid);
    return directory === null ? null : projects.recallRoot(directory);
  }

  function evidenceOf(owner: SocketOwner): PeerOwner {
    let search: SocketQuery | null = null;
    return {
      uid: owner.uid,
      findProcess(query) {
        if (!isInspectable(owner.uid)) return Promise.resolve(null);
        search = processes.start(owner, query);
        return search.ended;
      },
      recallProcess: () => (search === null ? null : processes.recall(search)),
      findProject,
      readBranch,
      recallProject,
    };
  }

  function askDiagnostics(client: Endpoint, server: Endpoint): SocketOwner | null {
    const owner = diagnostics?.ownerOf(client, server) ?? null;
    // systemd opened that socket outside the sandbox, where every user is visible. Inside, the rules are those of the tables.
    const isHidden = owner !== null && isSandboxed && ![GONE_UID, process.geteuid?.()].includes(owner.uid);
    return isHidden ? { ...owner, uid: UNMAPPED_UID } : owner;
  }

  return {
    async lookUp(client, server): Promise<PeerOwner> {
      await burst.join();
      const found = askDiagnostics(client, server) ?? (await owners.ownerOf(client, server));
      if (found === null) return UNKNOWN_OWNER;
      return evidenceOf(found.uid === unmapped ? { ...found, uid: UNMAPPED_UID } : found);
    },
  };
}

/** True when this process may see the open files of that user's processes; those of other users are visible to root only. */
function isInspectable(uid: number): boolean {
  const self = process.geteuid?.();
  return uid !== GONE_UID && uid !== UNMAPPED_UID && (uid === self || self === 0);
}
