import type { PeerOwner } from "../../ports.ts";

const nothing = () => Promise.resolve(null);

/** The owner of a connection about which the system says nothing. */
export const UNKNOWN_OWNER: PeerOwner = {
  uid: null,
  findProcess: nothing,
  findProject: nothing,
  readBranch: nothing,
  recallProcess: () => null,
  recallProject: () => null,
};
