import { hintFor, isListening, LOOPBACK_ADDRESSES, portUsurped } from "../../daemon/port-holder.ts";
import type { DaemonStatus } from "../commands/status/report.ts";
import type { Evidence } from "./evidence.ts";
import { failure, ok, skipped, type Check, type Finding } from "./finding.ts";
import { portOf } from "../listening-port.ts";
import { restartCommand } from "../hints.ts";

/** Who has the port that tools are pointed at (facts/threats.md A11)? Both loopback addresses count. */
export const portCheck: Check = {
  id: "port",
  title: "port",
  async look(evidence) {
    const config = await evidence.config();
    const { status, failure: trouble } = await evidence.daemon();
    if (trouble !== null) return [skipped("not looked at; see the daemon")];
    if (status !== null) return [await judgeDaemonsPort(status, config?.listen.port ?? 0, evidence)];
    if (config === null) return [skipped("not looked at; the configuration is not good")];
    return [await judgeFreePort(config.listen.port, evidence)];
  },
};

/** @param configured 0 for any */
async function judgeDaemonsPort(
  status: DaemonStatus,
  configured: number,
  evidence: Evidence,
): Promise<Finding> {
  const port = portOf(status);
  const where = status.listening.join(" and ");
  if (configured !== 0 && port !== configured) {
    if (status.config.problems.length > 0) return skipped(`${where}, and not ${configured}; see the daemon`);
    const what = `the daemon listens on ${where}, and the configuration says ${configured}`;
    return failure(what, await restartCommand(evidence));
  }
  const others = LOOPBACK_ADDRESSES.filter((address) => !where.includes(address));
  for (const address of others) {
    if (!(await isListening(port, address))) continue;
    const what = `the daemon listens on ${where} only, and another program gets what tools send to ${address}`;
    return failure(what, hintFor(port));
  }
  return ok(`${where}, the daemon's own`);
}

async function judgeFreePort(port: number, evidence: Evidence): Promise<Finding> {
  if (port === 0) return ok("any free one is taken");
  const { state } = await evidence.service();
  // Asked before anybody connects, which would start the daemon.
  if (state?.holdsPort === true && state.port === port) {
    return ok(`the service manager keeps ${port} open, and starts the daemon with the first connection`);
  }
  const usurped = await portUsurped(port);
  if (usurped === null) return ok(`${port} is free`);
  return failure(usurped.message, usurped.hint ?? hintFor(port));
}
