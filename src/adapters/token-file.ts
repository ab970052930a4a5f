import type { TokenEntry } from "../core/identity/token-entry.ts";
import type { WritableTokenStore } from "../ports.ts";
import { changeEntries } from "./token-file/change.ts";
import { readEntries } from "./token-file/read.ts";

/** The local tokens in a file of ours, mode 0600, which need not be there yet. */
export function openTokenFile(path: string): WritableTokenStore {
  return {
    read: () => readEntries(path),
    add: (entry) => changeEntries(path, (entries) => [...entries, entry]),
    async remove(isMeant) {
      let removed: TokenEntry[] = [];
      await changeEntries(path, (entries) => {
        removed = entries.filter(isMeant);
        return entries.filter((entry) => !isMeant(entry));
      });
      return removed;
    },
  };
}
