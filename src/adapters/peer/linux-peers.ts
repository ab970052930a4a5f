import { GONE_UID, type PeerInfo, type PeerOwner, type PeerProcess, type ProcessQuery } from "../../ports.ts";
import type { SocketOwner } from "./kernel-table.ts";
import { ProcessSearch } from "./process-search.ts";
import { directoryOf } from "./process-files.ts";
import { Projects } from "./projects.ts";
import { SocketOwners } from "./socket-owners.ts";

/**
 * Who connects to us on Linux, by what `/proc` shows (facts/platform.md section 9). To a daemon in a user namespace of its
 * own, as systemd/sandbox.conf makes one by PrivateUsers=, it shows whose a connection is and no more: others' executables
 * and files are closed to it (PTRACE_MODE_READ_FSCREDS in ptrace(2)).
 */
export function createLinuxPeers(): PeerInfo {
  const owners = new SocketOwners();
  const search = new ProcessSearch();
  const projects = new Projects();

  async function findProcess(owner: SocketOwner, query: ProcessQuery): Promise<PeerProcess | null> {
    if (!isOpenToUs(owner.uid)) return null;
    const found = await search.find(owner, query.isOver);
    if (found === null || !query.withProject) return found;
    const directory = directoryOf(found.record.pid);
    return { ...found, project: directory === null ? null : await projects.around(directory) };
  }

  return {
    async lookUp(client, server): Promise<PeerOwner> {
      const owner = await owners.ownerOf(client, server);
      if (owner === null) return { uid: null, findProcess: () => Promise.resolve(null) };
      return { uid: owner.uid, findProcess: (query) => findProcess(owner, query) };
    },
  };
}

/** Which files others' processes have open is shown to root alone. */
function isOpenToUs(uid: number): boolean {
  const self = process.geteuid?.();
  return uid !== GONE_UID && (uid === self || self === 0);
}
