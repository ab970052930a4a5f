/** An error of the operating system, as Node reports it. */
interface SystemError extends Error {
  /** E.g. `EACCES`. */
  code: string;
  /** The call that failed, e.g. `open`, or `spawn git`. */
  syscall: string;
  path?: unknown;
  /** The second path of a call that has two. */
  dest?: unknown;
  address?: unknown;
  port?: unknown;
}

/** What the advice finds out about a path. Each returns a command to type. */
export interface PathProbes {
  /** Opens to this user what permissions close: the path, or a directory that leads to it. null when they close nothing. */
  open(path: string): string | null;
  /** Takes off the attribute that keeps even the owner from changing a file; null when it has none. */
  unlock(path: string): string | null;
  /** Shows a path, and the directory that it is in. */
  inspect(path: string): string;
  /** Says how much of the path of a missing file there is, and lists what is in its place. */
  list(path: string): string;
  /** Shows the file system that a path is on; for null, all of them. */
  showMount(path: string | null): string;
  /** Shows how full the file system is that a path is on; for null, all of them. */
  showSpace(path: string | null): string;
}

interface Meaning {
  /** What happened, as the end of a sentence that has named the file. */
  why: string;
  /** What to type. `path` is the file that the error names. */
  fix?(path: string | null, probes: PathProbes): string;
}

/** The codes that Node's libuv has no name for (uv_err_name), by their numbers on Linux and macOS. */
export const UNNAMED_CODES: Readonly<Record<string, string>> = {
  "Unknown system error -122": "EDQUOT",
  "Unknown system error -69": "EDQUOT",
  "Unknown system error -116": "ESTALE",
  "Unknown system error -70": "ESTALE",
};

const FREE_SPACE = "free some space; to see what uses it, type";

/** Only these calls name the file that they could not make by their second path. */
const MAKES_SECOND = new Set(["rename", "link", "symlink", "copyfile"]);

/**
 * What the errors of the operating system mean, and what to type, for every command and the daemon: by call and code, or by code alone
 * (errno(3), and the manual pages of the calls). Of errors that are not listed Node's own words are printed. Those of connections to
 * upstreams have words of their own, because their causes lie elsewhere.
 */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  "uv_cwd ENOENT": {
    why: "the working directory does not exist any more",
    fix: () => "go to one that exists, and try again: cd",
  },
  "uv_cwd EACCES": {
    why: "the working directory cannot be read",
    fix: () => "go to another, and try again: cd",
  },
  // ip(7): the first port for which no privilege is needed.
  "listen EACCES": {
    why: "only root may listen on such a low port",
    fix: () => "choose a port from 1024 on: tollkeeper config set listen.port 8655",
  },
  // inotify(7): the limits for one user.
  "watch ENOSPC": {
    why: "your programs watch as many files as the system allows",
    fix: () => "allow more: sudo sysctl fs.inotify.max_user_watches=524288",
  },
  "watch EMFILE": {
    why: "your programs watch files in as many ways as the system allows",
    fix: () => "allow more: sudo sysctl fs.inotify.max_user_instances=1024",
  },
  "spawn ENOENT": { why: "there is no such program" },
  "spawn EAGAIN": {
    why: "you have as many processes as the system allows",
    fix: () => "to see the limit, type: ulimit -u",
  },
  // execve(2).
  "spawn E2BIG": { why: "the arguments and the environment are too long" },
  EACCES: { why: "permission denied", fix: letIn },
  EPERM: { why: "the system does not allow it", fix: letIn },
  EROFS: {
    why: "the file system is read-only",
    fix: (path, probes) => `to see how it is mounted, type: ${probes.showMount(path)}`,
  },
  EBUSY: {
    why: "it is in use, or mounted",
    fix: (path, probes) => `to see what is mounted there, type: ${probes.showMount(path)}`,
  },
  ENOSPC: {
    why: "the disk is full",
    fix: (path, probes) => `${FREE_SPACE}: ${probes.showSpace(path)}`,
  },
  EDQUOT: { why: "your disk quota is used up", fix: () => `${FREE_SPACE}: quota -s` },
  EFBIG: {
    why: "it would be larger than the system allows",
    fix: () => "to see the limit, type: ulimit -f",
  },
  EIO: {
    why: "the disk reports an error",
    fix: () => "to see what the disk reports, type: sudo dmesg --level=err",
  },
  EMFILE: {
    why: "this program has as many files open as it may",
    fix: () => "allow more, and try again: ulimit -n 4096",
  },
  ENFILE: {
    why: "all programs together have as many files open as the system allows",
    fix: () => "to see the limit, type: sysctl fs.file-max",
  },
  ENOMEM: { why: "there is not enough memory", fix: () => "to see what uses it, type: free -h" },
  ELOOP: { why: "its symbolic links lead in a circle, or links are refused there", fix: look },
  ENAMETOOLONG: { why: "its name is longer than the system allows", fix: () => "choose a shorter name" },
  ENOENT: {
    why: "it does not exist",
    fix: (path, probes) => (path === null ? look(path, probes) : probes.list(path)),
  },
  ENOTDIR: { why: "a part of its path is not a directory", fix: look },
  "mkdir EEXIST": { why: "a file is in its place", fix: look },
  EISDIR: { why: "it is a directory", fix: look },
  EEXIST: { why: "it exists already", fix: look },
  ENOTEMPTY: { why: "the directory is not empty", fix: look },
  ETXTBSY: { why: "a program runs from it" },
  EXDEV: { why: "it is on another file system" },
  ESTALE: {
    why: "the file server does not know it any more",
    fix: (path, probes) => `to see how it is mounted, type: ${probes.showMount(path)}`,
  },
  ENOTSUP: { why: "the file system does not support that" },
  EOPNOTSUPP: { why: "the file system does not support that" },
  EADDRINUSE: { why: "another program listens there" },
  EADDRNOTAVAIL: { why: "this machine has no such address" },
};

const VERBS: Readonly<Record<string, string>> = {
  access: "access",
  chmod: "change the permissions of",
  chown: "change the owner of",
  copyfile: "write",
  fchmod: "change the permissions of",
  fchown: "change the owner of",
  fdatasync: "write",
  fsync: "write",
  ftruncate: "write",
  link: "create",
  listen: "listen on",
  lstat: "access",
  mkdir: "create",
  mkdtemp: "create",
  open: "open",
  opendir: "list",
  read: "read",
  readlink: "follow",
  realpath: "follow",
  rename: "replace",
  rm: "remove",
  rmdir: "remove",
  scandir: "list",
  spawn: "run",
  stat: "access",
  statfs: "access",
  symlink: "create",
  unlink: "remove",
  utime: "write",
  watch: "watch",
  write: "write",
};

/** Returns what an error of the system means, without its file; of any other, its message. For messages that name the file. */
export function reasonOf(error: unknown): string {
  return systemReason(error) ?? textOf(error);
}

/** As {@link reasonOf}; null for errors whose message is not known to be free of addresses and names. */
export function systemReason(error: unknown): string | null {
  return isSystemError(error) ? (meaningOf(error)?.why ?? null) : null;
}

/** Returns what could not be done to which file and why, for an error of the system; of any other, its message. */
export function describeError(error: unknown): string {
  const why = isSystemError(error) ? meaningOf(error)?.why : undefined;
  if (!isSystemError(error) || why === undefined) return textOf(error);
  const [call = ""] = error.syscall.split(" ");
  const verb = VERBS[call];
  const subject = subjectOf(error);
  if (verb === undefined) return why;
  return subject === null ? `cannot ${verb}: ${why}` : `cannot ${verb} ${subject}: ${why}`;
}

/** Returns what to type about an error of the system, also about one that is the cause of another error; null where nothing is known. */
export function findFix(error: unknown, probes: PathProbes): string | null {
  if (!(error instanceof Error)) return null;
  if (!isSystemError(error)) return findFix(error.cause, probes);
  return meaningOf(error)?.fix?.(pathOf(error), probes) ?? null;
}

/** Runs a call whose errors do not say which file they are about, and adds it. */
export function about<Result>(path: string, call: () => Result): Result {
  try {
    return call();
  } catch (error) {
    throw attribute(error, path);
  }
}

/** Returns an error that names a file: that of the call that failed, or of one on the unfinished copy that was to replace the file. */
export function attribute(error: unknown, path: string): unknown {
  if (isSystemError(error)) Object.assign(error, { path, dest: undefined });
  return error;
}

function letIn(path: string | null, probes: PathProbes): string {
  if (path === null) return "find what is closed to you with: tollkeeper doctor";
  return probes.unlock(path) ?? probes.open(path) ?? look(path, probes);
}

function look(path: string | null, { inspect }: PathProbes): string {
  return path === null ? "find the cause with: tollkeeper doctor" : `inspect it with: ${inspect(path)}`;
}

function meaningOf({ syscall, code }: SystemError): Meaning | undefined {
  const [call = ""] = syscall.split(" ");
  const name = UNNAMED_CODES[code] ?? code;
  return MEANINGS[`${call} ${name}`] ?? MEANINGS[name];
}

function pathOf({ syscall, path, dest }: SystemError): string | null {
  const named = MAKES_SECOND.has(syscall) && typeof dest === "string" ? dest : path;
  return typeof named === "string" ? named : null;
}

function subjectOf(error: SystemError): string | null {
  const { address, port } = error;
  const path = pathOf(error);
  if (path !== null || typeof address !== "string") return path;
  if (typeof port !== "number" || port < 0) return address;
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

function isSystemError(error: unknown): error is SystemError {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as Partial<SystemError>;
  return typeof code === "string" && typeof syscall === "string";
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
