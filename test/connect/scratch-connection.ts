import fs from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import type { Identity, Prepared } from "../../src/connect/connection.ts";
import { prepareConnection, prepareDisconnection } from "../../src/connect/connection.ts";
import type { FileSettings, Format } from "../../src/tools/setting.ts";
import { scratchDirectory } from "../helpers/ledger/ledger.ts";
import { settingsOf, type Short } from "./apply-to.ts";

export const CODEX: Identity = { tool: "codex", scope: "user", directory: null };

const BASE: Short = [["base"], "http://h"];

/** A home directory and a place for journals, which a test may do anything to. */
export function scratchConnection(t: TestContext) {
  const home = scratchDirectory(t);
  const journals = join(home, "state", "connect");
  const pathOf = (name: string) => join(home, name);
  return {
    home,
    journals,
    pathOf,
    /** Puts a file there, with its directories. */
    write(name: string, text: string | Uint8Array, mode = 0o644): string {
      fs.mkdirSync(dirname(pathOf(name)), { recursive: true });
      fs.writeFileSync(pathOf(name), text);
      fs.chmodSync(pathOf(name), mode);
      return pathOf(name);
    },
    read: (name: string) => fs.readFileSync(pathOf(name), "utf8"),
    prepare: (...files: FileSettings[]) => prepareConnection({ files, remarks: [] }, journals, CODEX),
    connect(...files: FileSettings[]): Prepared {
      const prepared = this.prepare(...files);
      prepared.carryOut();
      return prepared;
    },
    disconnect(): Prepared | null {
      const prepared = prepareDisconnection(journals, CODEX);
      prepared?.carryOut();
      return prepared;
    },
    /** What a recipe wants of a file; one setting, if nothing else is said. */
    file: (name: string, format: Format = "jsonc", ...shorts: Short[]): FileSettings => ({
      path: pathOf(name),
      format,
      settings: settingsOf(shorts.length > 0 ? shorts : [BASE]),
    }),
    /** Every file and directory, with its mode and text, but for the journals. */
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
