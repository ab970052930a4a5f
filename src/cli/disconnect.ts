import { prepareDisconnection, readConnections, type Identity } from "../connect/connection.ts";
import type { Scope } from "../connect/recipe.ts";
import { Failure } from "../core/failure.ts";
import { changeEach } from "./connect/change-each.ts";
import { decide, SCOPES, showChanges, type ChangeOptions, type Decision } from "./connect/change-of-files.ts";
import type { Command } from "./command.ts";
import { revokeTokensOf } from "./connect/connection-token.ts";
import { identityOf } from "./connect/connect-tool.ts";
import { EXIT, print } from "./console.ts";
import { shorten } from "./doctor/remedies.ts";
import { requireRecipe } from "./connect/find-recipe.ts";
import { connectionsDirectory, here } from "./paths.ts";

interface DisconnectArguments {
  tool?: string | undefined;
  scope: Scope;
  "dry-run": boolean;
  yes: boolean;
  all?: boolean | undefined;
}

/** `tollkeeper disconnect`: gives tools back what `connect` has changed. */
export const command: Command<DisconnectArguments> = {
  builder: (yargs) =>
    yargs
      .positional("tool", { type: "string", describe: "The tool" })
      .option("scope", { choices: SCOPES, default: "user" as const, describe: "Everywhere, or here alone" })
      .option("dry-run", { type: "boolean", default: false, describe: "Only show what would change" })
      .option("yes", { alias: "y", type: "boolean", default: false, describe: "Do it without asking" })
      .option("all", { type: "boolean", describe: "Disconnect every tool, in every project" })
      .conflicts("all", "tool")
      .check(({ tool, all }) => tool !== undefined || all === true || "name a tool, or say --all"),
  handler: async ({ tool = "", scope, dryRun, yes, all }) => {
    const options = { isDry: dryRun, isAgreed: yes };
    const known = readConnections(connectionsDirectory()).map(({ identity }) => identity);
    if (all === true) {
      return changeEach(
        known.map((identity) => ({ title: nameOf(identity), make: () => disconnectTool(identity, options) })),
      );
    }
    const isKnown = known.some((identity) => identity.tool === tool);
    const identity = identityOf(isKnown ? tool : requireRecipe(tool).tool, scope);
    if ((await disconnectTool(identity, options)) === "declined") process.exitCode = EXIT.failed;
  },
};

/**
 * Takes one connection back: shows what that changes, asks, and does it.
 * @throws Failure where there is none, or it cannot be done
 */
async function disconnectTool(identity: Identity, options: ChangeOptions): Promise<Decision> {
  const prepared = prepareDisconnection(connectionsDirectory(), identity);
  if (prepared === null) {
    // A slip of the pen must not be taken for done.
    throw new Failure(`${nameOf(identity)} is not connected`, "see what is: tollkeeper connect --list");
  }
  showChanges(prepared);
  const decision =
    prepared.isUnchanged && !options.isDry
      ? "done"
      : await decide(`disconnect ${nameOf(identity)}?`, options);
  if (decision !== "done") return decision;
  prepared.carryOut();
  await revokeTokensOf(identity);
  print(`${nameOf(identity)} is disconnected`);
  return "done";
}

function nameOf({ tool, directory }: Identity): string {
  return directory === null ? tool : `${tool} in ${shorten(directory, here().home)}`;
}
