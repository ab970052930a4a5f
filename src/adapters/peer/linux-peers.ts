import {
  GONE_UID,
  UNMAPPED_UID,
  type PeerInfo,
  type PeerOwner,
  type PeerProcess,
  type ProcessQuery,
} from "../../ports.ts";
import type { SocketOwner } from "./kernel-table.ts";
import { ProcessSearch } from "./process-search.ts";
import { directoryOf } from "./process-files.ts";
import { Projects } from "./projects.ts";
import { SocketOwners } from "./socket-owners.ts";
import { overflowUid } from "./overflow-uid.ts";

const UNKNOWN: PeerOwner = {
  uid: null,
  findProcess: () => Promise.resolve(null),
  findProject: () => Promise.resolve(null),
};

/**
 * Who connects to us on Linux, by what `/proc` shows (facts/platform.md section 9). To a daemon in a user namespace of its
 * own, as systemd/sandbox.conf makes one by PrivateUsers=, it shows whether a connection is its own user's and no more:
 * all others have one uid there, and processes' executables and files are closed to it (PTRACE_MODE_READ_FSCREDS in
 * ptrace(2)).
 */
export function createLinuxPeers(): PeerInfo {
  const owners = new SocketOwners();
  const search = new ProcessSearch();
  const projects = new Projects();
  const untold = overflowUid();

  function findProcess(owner: SocketOwner, { isOver }: ProcessQuery): Promise<PeerProcess | null> {
    return isOpenToUs(owner.uid) ? search.find(owner, isOver) : Promise.resolve(null);
  }

  async function findProject(pid: number): Promise<string | null> {
    const directory = directoryOf(pid);
    return directory === null ? null : projects.around(directory);
  }

  return {
    async lookUp(client, server): Promise<PeerOwner> {
      const found = await owners.ownerOf(client, server);
      if (found === null) return UNKNOWN;
      const owner = found.uid === untold ? { ...found, uid: UNMAPPED_UID } : found;
      return { uid: owner.uid, findProcess: (query) => findProcess(owner, query), findProject };
    },
  };
}

/** Which files others' processes have open is shown to root alone. */
function isOpenToUs(uid: number): boolean {
  const self = process.geteuid?.();
  return uid !== GONE_UID && uid !== UNMAPPED_UID && (uid === self || self === 0);
}
