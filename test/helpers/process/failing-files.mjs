// Loaded into a command with `node --import`: makes the calls on files below a directory fail as the system would (TEST_FAULT is
// `CODE DIRECTORY`). Real errors of most kinds need root, a full disk or a mount, and reach one command each.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { getSystemErrorMap } from "node:util";

const [, code, directory] = /^(\w+) (.*)$/.exec(process.env["TEST_FAULT"]);
const known = [...getSystemErrorMap()].find(([, [name]]) => name === code);
// libuv has no name for this one.
const [errno, [codeName, words]] = known ?? [
  -122,
  ["Unknown system error -122", "Unknown system error -122"],
];
if (known === undefined && code !== "EDQUOT") throw new Error(`unknown: ${code}`);

/** What only fails where something is written. */
const WRITES_ONLY = ["ENOSPC", "EDQUOT", "EROFS", "EBUSY"].includes(code);

/** What already fails when the path is looked at. */
const LOOKS = ["ELOOP", "ENAMETOOLONG", "EIO"].includes(code);

const STATS = ["lstat", "stat", "realpath", "readlink", "access"];
const READS = ["readFile", "readdir", "opendir"];
const WRITES = ["writeFile", "mkdir", "rename", "unlink", "rm", "rmdir", "chmod", "appendFile", "copyFile"];
const SYSCALLS = {
  readFile: "open",
  readdir: "scandir",
  writeFile: "open",
  appendFile: "open",
  rm: "unlink",
  copyFile: "copyfile",
};

function fault(call, path, dest) {
  const syscall = SYSCALLS[call] ?? call;
  const error = new Error(`${codeName}: ${words}, ${syscall} '${path}'`);
  return Object.assign(error, {
    errno,
    code: codeName,
    syscall,
    path,
    ...(typeof dest === "string" && call === "rename" && { dest }),
  });
}

function isHit(name, path, flags) {
  if (typeof path !== "string" || !(path === directory || path.startsWith(`${directory}/`))) return false;
  if (name !== "open") return true;
  const isRead = flags === undefined || flags === "r" || (typeof flags === "number" && (flags & 3) === 0);
  return !(WRITES_ONLY && isRead);
}

function patch(owner, suffix, make) {
  for (const name of [...(LOOKS ? STATS : []), ...(WRITES_ONLY ? [] : READS), ...WRITES, "open"]) {
    const original = owner[`${name}${suffix}`];
    if (typeof original !== "function") continue;
    const replaced = make(name, original.bind(owner));
    owner[`${name}${suffix}`] = Object.assign(replaced, original);
  }
}

patch(fs, "Sync", (name, original) => (path, second, ...rest) => {
  const isQuiet = second?.throwIfNoEntry === false && code === "ENOENT";
  if (!isQuiet && isHit(name, path, second)) throw fault(name, path, second);
  return original(path, second, ...rest);
});
patch(fs.promises, "", (name, original) => async (path, second, ...rest) => {
  if (isHit(name, path, second)) throw fault(name, path, second);
  return original(path, second, ...rest);
});
syncBuiltinESMExports();
