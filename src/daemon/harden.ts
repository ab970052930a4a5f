import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { url as inspectorUrl } from "node:inspector";
import { Failure } from "../core/failure.ts";

/**
 * Closes the ways by which what a process holds in memory gets out of it (facts/threats.md B9); call it before there is
 * a key. What remains is ptrace: prctl(PR_SET_DUMPABLE), by which ssh-agent keeps debuggers of its own user out, cannot
 * be called from Node.
 * @returns warnings, for the log: what was asked for and is not done, or could not be done
 * @throws Failure naming the setting under which Node itself would give the key away
 */
export function hardenProcess(): string[] {
  refuseDebugOutput();
  refuseInspector();
  refuseDumpingOptions();
  stopReports();
  return [emptyCoreDumps(), ignoreTlsSwitch()].filter((warning) => warning !== null);
}

/**
 * TLS is always verified (facts/threats.md B5). Our own requests do not look at this variable, but a library might, and
 * Node warns of it as if we did.
 * @returns a warning when it was set
 */
function ignoreTlsSwitch(): string | null {
  const name = "NODE_TLS_REJECT_UNAUTHORIZED";
  if (process.env[name] !== "0") return null;
  delete process.env[name];
  return `${name} is ignored: certificates are always verified`;
}

/** Under these Node prints the headers of every request, or the first bytes of what a key command says; tried. */
function refuseDebugOutput(): void {
  if (!/\b(?:https?|net|stream)\b|\*/i.test(process.env["NODE_DEBUG"] ?? "")) return;
  throw new Failure("under NODE_DEBUG Node would print the key", "unset NODE_DEBUG, and use --debug instead");
}

/** By whatever it was opened: an option, or SIGUSR1 before we had a listener for it. */
function refuseInspector(): void {
  if (inspectorUrl() === undefined) return;
  throw new Failure(
    "Node's inspector is open, and would show the key to whoever connects to it",
    "take --inspect out of NODE_OPTIONS and of node's own arguments, and start again",
  );
}

/**
 * Options of Node's that write its memory, or what opens its TLS connections, to a file. Not `--heap-prof` and
 * `--cpu-prof`: they write names of functions, and no values (tried). A limit of 0 is none.
 */
const DUMPING_OPTION = /--(?:heapsnapshot-signal|heapsnapshot-near-heap-limit(?!=0\b)|tls-keylog)\b/;

function refuseDumpingOptions(): void {
  const given = [...process.execArgv, process.env["NODE_OPTIONS"] ?? ""].join(" ");
  // Node takes `_` for `-` in its options (Node's documentation, "Command-line API").
  const option = DUMPING_OPTION.exec(given.replaceAll("_", "-"))?.[0];
  if (option === undefined) return;
  throw new Failure(
    `under ${option} Node would write the key, or what reveals it, to a file`,
    `take ${option} out of NODE_OPTIONS and of node's own arguments, and start again`,
  );
}

/** Diagnostic reports have the environment and the error at hand in them (Node's documentation, "Diagnostic report"). */
function stopReports(): void {
  const { report } = process;
  report.reportOnSignal = false;
  report.reportOnFatalError = false;
  report.reportOnUncaughtException = false;
}

/**
 * Leaves core dumps without any memory of ours: no kind of mapping is written (core(5), "Controlling which mappings are
 * written to the core dump"). Children inherit it, and it holds for dumps that are piped to a program as well, where the
 * limit on their size does not count. Where util-linux is installed that limit goes to 0, too, because the registers are
 * written all the same. Elsewhere than on Linux dumps are off unless the user has switched them on.
 */
function emptyCoreDumps(): string | null {
  if (process.platform !== "linux") return null;
  // What it says is of no use, and without pipes for it this takes 2.5 ms instead of 5.5.
  spawn("prlimit", [`--pid=${process.pid}`, "--core=0"], { stdio: "ignore" }).on("error", () => {});
  try {
    writeFileSync("/proc/self/coredump_filter", "0");
    return null;
  } catch (error) {
    return `a core dump of this process would hold the key: ${String(error)}`;
  }
}
