import { once } from "node:events";
import { Failure } from "../../core/failure.ts";
import { PROFILE_NAMES, type ProfileName } from "../../sandbox/profiles.ts";
import { startSandbox, type Sandbox } from "../../sandbox/server.ts";
import type { Command } from "../command.ts";
import { print } from "../terminal/console.ts";
import { sampleRequests } from "./sandbox/sample-requests.ts";
import { reasonOf } from "../../core/system-error.ts";

/** One above the daemon's default port. */
const DEFAULT_PORT = 8656;

interface Arguments {
  port: number;
  profile: ProfileName | undefined;
}

/** `tollkeeper sandbox`: runs the built-in upstream without the daemon, until SIGINT or SIGTERM. */
export const command: Command<Arguments> = {
  builder: (yargs) =>
    yargs
      .option("port", {
        type: "number",
        default: DEFAULT_PORT,
        describe: "Port on 127.0.0.1; 0 for any free port",
      })
      .option("profile", {
        choices: PROFILE_NAMES,
        describe: "Service to imitate; default: all APIs at once",
      }),
  handler: async ({ port, profile }) => {
    const sandbox = await start(port, profile);
    const stopped = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
    for (const line of introduce(sandbox, profile)) print(line);
    await stopped;
    await sandbox.close();
  },
};

async function start(port: number, profile: ProfileName | undefined): Promise<Sandbox> {
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw new Failure(
      "--port must be a whole number from 0 to 65535",
      "for any free port, type: tollkeeper sandbox --port 0",
    );
  }
  const options = profile === undefined ? "" : ` --profile ${profile}`;
  try {
    return await startSandbox({ port, ...(profile !== undefined && { profile }) });
  } catch (error) {
    const message = `the sandbox cannot listen on port ${port}: ${reasonOf(error)}`;
    const hint = `to use any free port, type: tollkeeper sandbox${options} --port 0`;
    throw new Failure(message, hint, { cause: error });
  }
}

/** Returns an introduction for new users: what the sandbox is, its keys, and one request for each route. */
function introduce(sandbox: Sandbox, profile: ProfileName | undefined): string[] {
  const { baseUrl, keys } = sandbox;
  return [
    `sandbox at ${baseUrl}`,
    `A stand-in for ${profile ?? "a real service"}: made-up keys, models, text and token counts. Nothing leaves this machine.`,
    "",
    ...introduceKeys(sandbox),
    "",
    "One request for each route:",
    ...sampleRequests(baseUrl, sandbox.profile, keys[0]?.secret ?? null).map((request) => `  ${request}`),
    "",
    "The header x-sandbox simulates faults: -H 'x-sandbox: pace=200', 'error=529', 'cut=3', ...",
    "Ctrl-C stops it.",
  ];
}

function introduceKeys({ keys }: Sandbox): string[] {
  if (keys.length === 0) return ["It needs no key."];
  return [
    "Keys, each with the group of models that it may use:",
    ...keys.map(({ name, secret, group }) => `  ${name.padEnd(8)} ${secret.padEnd(21)} ${group}`),
  ];
}
