import { existsSync, lstatSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import {
  ADDRESS_PREFIX,
  budgetStatePath,
  connectionsDirectory,
  currentHost,
  accountSaltPath,
  limitsPath,
  outliersPath,
  metricsPath,
  otlpCheckpointPath,
  pausePath,
  runtimeDirectory,
  stateDirectory,
  tokenPath,
} from "../../adapters/paths.ts";
import { listDirectory, removeEmptyDirectories } from "../../connect/edit/directories.ts";
import { importedDirectory } from "../../adapters/ledger-file.ts";
import { readConnections, type Connection } from "../../connect/connection.ts";
import { findManualConnections, type ManualConnection } from "../connect/manual-connection.ts";
import { SOURCES } from "../../core/ledger/import/imported-record.ts";
import { isMonthFileName, parseLedgerFileName } from "../../core/ledger/day.ts";
import { NOTES_DIRECTORY, parseNoteFileName } from "../../core/ledger/note-file.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { SCHEMA_FILE } from "../config/edit-file.ts";
import { disconnectTool, nameOfConnection } from "../connect/disconnect-tool.ts";
import { note } from "../terminal/console.ts";
import { displayPath, pluralize } from "../terminal/format.ts";
import type { Removal } from "./removal.ts";

/** Finds the connected tools, and those with settings that point at tollkeeper without a connection. */
export async function findConnectedTools(): Promise<Removal[]> {
  const connections = readConnections(connectionsDirectory());
  const others = await findManualConnections(connections.map(({ id }) => id));
  return [
    ...connections.map(connectionRemoval),
    ...others.map(({ tool, manual }) => manualRemoval(tool.name, manual)),
  ];
}

function manualRemoval(tool: string, { path, line }: ManualConnection): Removal {
  return {
    label: "tool",
    what: `${tool}: ${display(path)}:${line} points at tollkeeper, though it is not connected`,
    effect: "what connect would write will be taken out",
    done: "taken out",
    byHand: `\${EDITOR:-vi} ${formatCommand([path])}`,
    async remove() {
      const id = { tool, scope: "user", directory: null } as const;
      await disconnectTool(id, { isDryRun: false, isConfirmed: true });
    },
  };
}

function connectionRemoval({ id, files }: Connection): Removal {
  const place = id.directory === null ? [] : ["--directory", id.directory];
  return {
    label: "tool",
    what: nameOfConnection(id),
    effect: ["its settings will be restored", ...files.flatMap(({ path }) => describePlace(path))].join("; "),
    done: "settings restored",
    byHand: formatCommand(["tollkeeper", "disconnect", id.tool, ...place]),
    async remove() {
      await disconnectTool(id, { isDryRun: false, isConfirmed: true });
    },
  };
}

/** Finds the file of the local tokens. Without a daemon they are of no use, so they need not be revoked one by one. */
export function findTokens(): Removal[] {
  return existsSync(tokenPath()) ? [fileRemoval("tokens", tokenPath())] : [];
}

/** Finds the usage records, and the files of the daemon that belong to them. Files in the directory that are not the ledger's stay. */
export function findLedger(directory: string): Removal[] {
  const names = listDirectory(directory);
  const days = names.filter((name) => parseLedgerFileName(name) !== null || isMonthFileName(name));
  const notes = join(directory, NOTES_DIRECTORY);
  const imported = SOURCES.map((source) => importedDirectory(directory, source));
  const folders = [notes, ...imported, ...imported.map((folder) => dirname(folder))];
  const state = listState();
  const isThere = days.length > 0 || folders.some((folder) => existsSync(folder));
  if (!isThere && state.length === 0) return [];
  const own = names.filter((name) => days.includes(name) || folders.includes(join(directory, name)));
  const records = own.length === names.length ? [directory] : own.map((name) => join(directory, name));
  const paths = [...(isThere ? records : []), ...state];
  const counted = isThere ? [`${display(directory)}, ${pluralize(days.length, "file")}`] : [];
  return [
    {
      label: "ledger",
      what: [...counted, ...state.map(display)].join("; "),
      byHand: formatCommand(["rm", "-r", ...paths]),
      remove() {
        for (const name of days) rmSync(join(directory, name));
        for (const name of listDirectory(notes))
          if (parseNoteFileName(name) !== null) rmSync(join(notes, name));
        for (const folder of imported)
          for (const name of listDirectory(folder))
            if (parseLedgerFileName(name) !== null) rmSync(join(folder, name));
        for (const path of state) rmSync(path, { force: true });
        removeEmptyDirectories([...folders, directory, dirname(otlpCheckpointPath())]);
        if (existsSync(directory)) note(`note: ${display(directory)} is kept: it contains other files`);
      },
    },
  ];
}

/**
 * Lists what the daemon keeps beside the ledger, and what a crash left of it: lifts of budgets, pauses, metrics, and how far an export is.
 * A new installation would go on with them, so they are of no use without the records.
 */
function listState(): string[] {
  const kept = [
    budgetStatePath(),
    pausePath(),
    limitsPath(),
    accountSaltPath(),
    outliersPath(),
    metricsPath(),
    otlpCheckpointPath(),
  ];
  return kept.flatMap((path) => {
    const names = listDirectory(dirname(path)).filter((name) => name.startsWith(basename(path)));
    return names.map((name) => join(dirname(path), name));
  });
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
    what: display(path) + describeLink(path),
    byHand: formatCommand(["rm", path]),
    remove() {
      rmSync(path, { force: true });
      removeEmptyDirectories([dirname(path)]);
    },
  };
}

/** A directory of dotfiles that is linked in would miss the file; of a file that is itself a link, only the link goes. */
function describeLink(path: string): string {
  if (lstatSync(path).isSymbolicLink()) return `, a link to ${display(readlinkSync(path))}, which stays`;
  const real = realPathOf(path);
  return real === path ? "" : `, which is ${display(real)}`;
}

/** As {@link describeLink}, for a tool's settings, which are edited behind links. */
function describePlace(path: string): string[] {
  const real = realPathOf(path);
  return real === path ? [] : [`${display(path)} is ${display(real)}`];
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // There is nothing to change.
    return path;
  }
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
