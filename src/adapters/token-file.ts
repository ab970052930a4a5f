import type { TokenEntry } from "../core/identity/token-entry.ts";
import type { WritableTokenStore } from "../ports.ts";
import { changeEntries } from "./token-file/change.ts";
import { readEntries } from "./token-file/read.ts";

/**
 * Opens the file that holds the local tokens. It has mode 0600 and is created by the first `add`. The daemon imports
 * token-file/read.ts instead of this file: it only reads tokens and need not load the code that changes them.
 */
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
