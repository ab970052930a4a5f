import { Failure } from "../../../core/failure.ts";
import type { DaemonStatus } from "../../../daemon/status.ts";
import { attempt } from "../../attempt.ts";
import { readToolHost } from "../../connect/local-endpoint.ts";
import { describeOverriddenByShell } from "../../connect/overridden-logins.ts";
import { describePayer, listPayers, type Payer } from "../../connect/payers.ts";
import { readIfValid } from "../../load-config.ts";
import type { Fact } from "../../terminal/facts.ts";

/** Who pays for the tools of this command's own user, as far as that can be read. */
export interface Payers {
  /** null where what `connect` has kept cannot be read. */
  payers: readonly Payer[] | null;
  facts: readonly Fact[];
}

/** Returns who pays for connected tools, with the keys of the daemon's configuration, and what changes that in this shell. */
export async function readPayers({ config }: Pick<DaemonStatus, "config">): Promise<Payers> {
  const { value, failure } = await attempt(Failure, async () => ({
    payers: await listPayers(await readIfValid(config.path)),
    byShell: await describeOverriddenByShell(readToolHost()),
  }));
  if (value === null) return { payers: null, facts: describeFailure(failure) };
  const { payers, byShell } = value;
  const warnings = byShell.map(({ what, fix }): Fact => ["tool", `${what}; ${fix}`, "warning"]);
  return { payers, facts: [...payers.flatMap(factsOf), ...warnings] };
}

function factsOf(payer: Payer): Fact[] {
  const row: Fact = ["tool", describePayer(payer)];
  return [
    row,
    ...payer.conflicts.map(({ where, what, fix }): Fact => ["", `${where} ${what}; ${fix}`, "warning"]),
  ];
}

function describeFailure({ message, hint }: Failure): Fact[] {
  const row: Fact = ["tool", `who pays is not known: ${message}`, "warning"];
  return hint === undefined ? [row] : [row, ["", hint]];
}
