import { existsSync, lstatSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  ADDRESS_PREFIX,
  connectionsDirectory,
  currentHost,
  metricsPath,
  runtimeDirectory,
  stateDirectory,
  tokenPath,
} from "../../adapters/paths.ts";
import { listDirectory, removeEmptyDirectories } from "../../connect/edit/directories.ts";
import { importedDirectory } from "../../adapters/ledger-file.ts";
import { readConnections } from "../../connect/connection.ts";
import { SOURCES } from "../../core/ledger/import/imported-record.ts";
import { parseLedgerFileName } from "../../core/ledger/day.ts";
import { NOTES_DIRECTORY, parseNoteFileName } from "../../core/ledger/note-file.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { SCHEMA_FILE } from "../config/edit-file.ts";
import { disconnectTool, nameOfConnection } from "../connect/disconnect-tool.ts";
import { note } from "../terminal/console.ts";
import { displayPath, pluralize } from "../terminal/format.ts";
import type { Removal } from "./removal.ts";

/** Finds the connected tools. */
export function findConnectedTools(): Removal[] {
  return readConnections(connectionsDirectory()).map(({ id }) => {
    const place = id.directory === null ? [] : ["--directory", id.directory];
    return {
      label: "tool",
      what: nameOfConnection(id),
      effect: "its settings will be restored",
      done: "settings restored",
      byHand: formatCommand(["tollkeeper", "disconnect", id.tool, ...place]),
      async remove() {
        await disconnectTool(id, { isDryRun: false, isConfirmed: true });
      },
    };
  });
}

/** Finds the file of the local tokens. Without a daemon they are of no use, so they need not be revoked one by one. */
export function findTokens(): Removal[] {
  return existsSync(tokenPath()) ? [fileRemoval("tokens", tokenPath())] : [];
}

/** Finds the usage records. Files in the directory that are not the ledger's stay. */
export function findLedger(directory: string): Removal[] {
  const names = listDirectory(directory);
  const days = names.filter((name) => parseLedgerFileName(name) !== null);
  const notes = join(directory, NOTES_DIRECTORY);
  const imported = SOURCES.map((source) => importedDirectory(directory, source));
  const folders = [notes, ...imported, ...imported.map((folder) => dirname(folder))];
  if (days.length === 0 && !folders.some((folder) => existsSync(folder))) return [];
  const own = names.filter((name) => days.includes(name) || folders.includes(join(directory, name)));
  const paths = own.length === names.length ? [directory] : own.map((name) => join(directory, name));
  return [
    {
      label: "ledger",
      what: `${display(directory)}, ${pluralize(days.length, "file")}`,
      byHand: formatCommand(["rm", "-r", ...paths]),
      remove() {
        for (const name of days) rmSync(join(directory, name));
        for (const name of listDirectory(notes))
          if (parseNoteFileName(name) !== null) rmSync(join(notes, name));
        for (const folder of imported)
          for (const name of listDirectory(folder))
            if (parseLedgerFileName(name) !== null) rmSync(join(folder, name));
        // Of no use without the ledger that it was counted from.
        rmSync(metricsPath(), { force: true });
        removeEmptyDirectories([...folders, directory]);
        if (existsSync(directory)) note(`note: ${display(directory)} is kept: it contains other files`);
      },
    },
  ];
}

/** Finds the configuration file, and the schema beside it. */
export function findConfiguration(file: string): Removal[] {
  const schema = join(dirname(file), SCHEMA_FILE);
  const files = [file, schema].filter((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
  return files.map((path) => fileRemoval("config", path));
}

function fileRemoval(label: string, path: string): Removal {
  return {
    label,
    what: display(path),
    byHand: formatCommand(["rm", path]),
    remove() {
      rmSync(path, { force: true });
      removeEmptyDirectories([dirname(path)]);
    },
  };
}

/** Removes directories that are left empty, and says what stays in others. */
export function tidyDirectories(): void {
  const state = stateDirectory();
  // A daemon that was killed left it.
  for (const name of listDirectory(state))
    if (name.startsWith(ADDRESS_PREFIX)) rmSync(join(state, name), { force: true });
  // Without XDG_RUNTIME_DIR, the sockets of the daemon were in the state directory.
  removeEmptyDirectories([connectionsDirectory(), runtimeDirectory(), join(state, "run"), state]);
  const backups = listDirectory(connectionsDirectory());
  if (backups.length > 0)
    note(
      `note: ${display(connectionsDirectory())} is kept: it contains backups of tool settings that were changed after connecting`,
    );
}

function display(path: string): string {
  return displayPath(path, currentHost().home);
}
