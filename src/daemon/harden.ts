import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { url as inspectorUrl } from "node:inspector";
import { Failure } from "../core/failure.ts";

/**
 * Prevents the memory of this process from leaking (SECURITY.md B9). Call it before a key is read. ptrace remains possible:
 * Node cannot call prctl(PR_SET_DUMPABLE), with which ssh-agent keeps its own user's debuggers out.
 * @returns warnings for the log: settings that are ignored, and protections that could not be applied
 * @throws Failure naming a setting of Node's that would expose the key
 */
export function hardenProcess(): string[] {
  refuseDebugOutput();
  refuseInspector();
  refuseDumpingOptions();
  stopReports();
  return [emptyCoreDumps(), ignoreTlsSwitch()].filter((warning) => warning !== null);
}

/**
 * Removes the variable that switches certificate verification off (SECURITY.md B5). Our requests ignore it, but a library might
 * not, and Node prints a warning as if we obeyed it.
 * @returns a warning when it was set
 */
function ignoreTlsSwitch(): string | null {
  const name = "NODE_TLS_REJECT_UNAUTHORIZED";
  if (process.env[name] !== "0") return null;
  delete process.env[name];
  return `${name} is ignored: certificates are always verified`;
}

/** Refuses NODE_DEBUG sections that print request headers, or the first bytes of a key command's output (tried). */
function refuseDebugOutput(): void {
  if (!/\b(?:https?|net|stream)\b|\*/i.test(process.env["NODE_DEBUG"] ?? "")) return;
  throw new Failure("under NODE_DEBUG Node would print the key", "unset NODE_DEBUG, and use --debug instead");
}

/** Refuses an open inspector, opened by an option, or by a SIGUSR1 before our listener was attached. */
function refuseInspector(): void {
  if (inspectorUrl() === undefined) return;
  throw new Failure(
    "Node's inspector is open, and would show the key to anyone who connects",
    "remove --inspect from NODE_OPTIONS and from node's arguments, and start again",
  );
}

/**
 * Node's options that write memory or TLS keys to a file. `--heap-prof` and `--cpu-prof` are not among them: they write function
 * names and no values (tried). A heap snapshot limit of 0 is off.
 */
const DUMPING_OPTION = /--(?:heapsnapshot-signal|heapsnapshot-near-heap-limit(?!=0\b)|tls-keylog)\b/;

function refuseDumpingOptions(): void {
  const given = [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].join(" ");
  // Node treats `_` as `-` in its options (Node's documentation, "Command-line API").
  const option = DUMPING_OPTION.exec(given.replaceAll("_", "-"))?.[0];
  if (option === undefined) return;
  throw new Failure(
    `under ${option} Node would write the key, or data that reveals it, to a file`,
    `remove ${option} from NODE_OPTIONS and from node's arguments, and start again`,
  );
}

/** Turns diagnostic reports off: they contain the environment and the current error (Node's documentation, "Diagnostic report"). */
function stopReports(): void {
  const { report } = process;
  report.reportOnSignal = false;
  report.reportOnFatalError = false;
  report.reportOnUncaughtException = false;
}

/**
 * Keeps memory out of core dumps: no kind of mapping is written (core(5), "Controlling which mappings are written to the core
 * dump"). Child processes inherit this, and it also applies to dumps that are piped to a program, where the size limit does not.
 * Registers are written anyway, so the size limit is set to 0 too where util-linux is installed. On systems other than
 * Linux, core dumps are off unless the user has turned them on.
 */
export function emptyCoreDumps(): string | null {
  if (process.platform !== "linux") return null;
  // Its output is not needed. Without pipes this takes 2.5 ms instead of 5.5 ms.
  spawn("prlimit", [`--pid=${process.pid}`, "--core=0"], { stdio: "ignore" }).on("error", () => {});
  try {
    writeFileSync("/proc/self/coredump_filter", "0");
    return null;
  } catch (error) {
    return `a core dump of this process would contain the key: ${String(error)}`;
  }
}
