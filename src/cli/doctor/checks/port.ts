import { checkPortFree, hintForPort, isListening } from "../../../adapters/port-holder.ts";
import { LOOPBACK_ADDRESSES } from "../../../adapters/port-holder.ts";
import type { DaemonStatus } from "../../../daemon/status.ts";
import type { Evidence } from "../evidence.ts";
import { failure, ok, skipped, type Check, type Finding } from "../../../check/check.ts";
import { listeningPort } from "../../../daemon/running-daemon.ts";
import { restartCommand } from "../fix-commands.ts";

/** Checks that no other program has the port that tools connect to, on either loopback address (SECURITY.md A11). */
export const portCheck: Check<Evidence> = {
  id: "port",
  title: "port",
  async run(evidence) {
    const config = await evidence.config();
    const { status, failure: problem } = await evidence.daemon();
    if (problem !== null) return [skipped('not checked: see "daemon"')];
    if (status !== null) return [await runningDaemonFinding(status, config?.listen.port ?? 0, evidence)];
    if (config === null) return [skipped("not checked: the configuration is invalid")];
    return [await stoppedDaemonFinding(config.listen.port, evidence)];
  },
};

/** @param configured the port in the configuration; 0 for any */
async function runningDaemonFinding(
  status: DaemonStatus,
  configured: number,
  evidence: Evidence,
): Promise<Finding> {
  const port = listeningPort(status);
  const where = status.listening.join(" and ");
  if (configured !== 0 && port !== configured) {
    if (status.config.problems.length > 0) return skipped(`${where}, not ${configured}: see "daemon"`);
    const what = `the daemon listens on ${where}, but the configuration has port ${configured}`;
    return failure(what, await restartCommand(evidence));
  }
  const others = LOOPBACK_ADDRESSES.filter((address) => !where.includes(address));
  for (const address of others) {
    if (!(await isListening(port, address))) continue;
    const what = `the daemon listens only on ${where}; another program receives what tools send to ${address}`;
    return failure(what, hintForPort(port, address));
  }
  return ok(`${where}, held by the daemon`);
}

async function stoppedDaemonFinding(port: number, evidence: Evidence): Promise<Finding> {
  if (port === 0) return ok("port 0: the daemon chooses a free port");
  const { state } = await evidence.service();
  // Checked first, because a probing connection would start the daemon.
  if (state?.holdsPort === true && state.port === port) {
    return ok(`the service manager holds port ${port}, and starts the daemon at the first connection`);
  }
  const conflict = await checkPortFree(port);
  if (conflict === null) return ok(`${port} is free`);
  return failure(conflict.message, conflict.hint ?? hintForPort(port));
}
