import fs from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import type { ConnectionId, PreparedChange } from "../../src/connect/connection.ts";
import { prepareConnection, prepareDisconnection } from "../../src/connect/connection.ts";
import type { FileSettings, Format } from "../../src/tools/setting.ts";
import { ledgerScratchDirectory } from "../helpers/ledger/ledger.ts";
import { settingsOf, type SettingPair } from "./apply-to.ts";

export const CODEX: ConnectionId = { tool: "codex", scope: "user", directory: null };

const BASE: SettingPair = [["base"], "http://h"];

/** Creates a home directory with a directory for journals, and functions to connect files in it. */
export function scratchConnection(t: TestContext) {
  const home = ledgerScratchDirectory(t);
  const journals = join(home, "state", "connect");
  const pathOf = (name: string) => join(home, name);
  return {
    home,
    journals,
    pathOf,
    /** Writes a file and creates its directories. */
    write(name: string, text: string | Uint8Array, mode = 0o644): string {
      fs.mkdirSync(dirname(pathOf(name)), { recursive: true });
      fs.writeFileSync(pathOf(name), text);
      fs.chmodSync(pathOf(name), mode);
      return pathOf(name);
    },
    read: (name: string) => fs.readFileSync(pathOf(name), "utf8"),
    prepare: (...files: FileSettings[]) => prepareConnection({ files, remarks: [] }, journals, CODEX),
    connect(...files: FileSettings[]): PreparedChange {
      const prepared = this.prepare(...files);
      prepared.commit();
      return prepared;
    },
    disconnect(): PreparedChange | null {
      const prepared = prepareDisconnection(journals, CODEX);
      prepared?.commit();
      return prepared;
    },
    /** Returns the settings for a file; by default a single one. */
    file: (name: string, format: Format = "jsonc", ...pairs: SettingPair[]): FileSettings => ({
      path: pathOf(name),
      format,
      settings: settingsOf(pairs.length > 0 ? pairs : [BASE]),
    }),
    /** Returns every file and directory with its mode and text, except the journals. */
    snapshot: () => snapshotOf(home).filter((line) => !line.startsWith("state")),
  };
}

function snapshotOf(home: string): string[] {
  const names = fs.readdirSync(home, { recursive: true, encoding: "utf8" }).sort();
  return names.map((name) => {
    const stats = fs.lstatSync(join(home, name));
    const mode = (stats.mode & 0o7777).toString(8);
    if (stats.isSymbolicLink()) return `${name} -> ${fs.readlinkSync(join(home, name))}`;
    return `${name} ${mode} ${stats.isFile() ? fs.readFileSync(join(home, name), "latin1") : ""}`;
  });
}
