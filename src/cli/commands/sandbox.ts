import { once } from "node:events";
import { Failure, messageOf } from "../../core/failure.ts";
import { PROFILES, type ProfileName } from "../../sandbox/profiles.ts";
import { startSandbox, type Sandbox } from "../../sandbox/server.ts";
import type { Command } from "../command.ts";
import { print } from "../terminal/console.ts";

/** One above the daemon's default port. */
const DEFAULT_PORT = 8656;

/** `tollkeeper sandbox`: runs the built-in upstream without the daemon, until SIGINT or SIGTERM. */
export const command: Command<{ port: number }> = {
  builder: (yargs) =>
    yargs.option("port", {
      type: "number",
      default: DEFAULT_PORT,
      describe: "Port on 127.0.0.1; 0 for any free port",
    }),
  handler: async ({ port }) => {
    const sandbox = await start(port);
    const stopped = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
    for (const line of introduce(sandbox)) print(line);
    await stopped;
    await sandbox.close();
  },
};

async function start(port: number): Promise<Sandbox> {
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw new Failure(
      "--port must be a whole number from 0 to 65535",
      "for any free port, type: tollkeeper sandbox --port 0",
    );
  }
  try {
    return await startSandbox({ port });
  } catch (error) {
    const message = `the sandbox cannot listen on port ${port}: ${messageOf(error)}`;
    throw new Failure(message, "to use any free port, type: tollkeeper sandbox --port 0", { cause: error });
  }
}

/** Returns an introduction for new users: what the sandbox is, its keys, and one request for each route. */
function introduce({ baseUrl, keys }: Sandbox): string[] {
  const json = "-H 'content-type: application/json'";
  const bearer = `-H 'authorization: Bearer ${keys[0]?.secret ?? ""}'`;
  const apiKey = `-H 'x-api-key: ${keys[0]?.secret ?? ""}' -H 'anthropic-version: 2023-06-01'`;
  const hello = `"model":"claude-sonnet-5","messages":[{"role":"user","content":"hello"}]`;
  return [
    `sandbox at ${baseUrl}`,
    "A stand-in for a real service: made-up keys, models, text and token counts. Nothing leaves this machine.",
    "",
    "Keys, each with the group of models that it may use:",
    ...keys.map(({ name, secret, group }) => `  ${name.padEnd(8)} ${secret.padEnd(20)} ${group}`),
    "",
    "One request for each route:",
    `  curl ${baseUrl}/models ${bearer}`,
    `  curl -N ${baseUrl}/responses ${bearer} ${json} -d '{"model":"gpt-5","stream":true,"input":"hello"}'`,
    `  curl -N ${baseUrl}/messages ${apiKey} ${json} -d '{"max_tokens":64,"stream":true,${hello}}'`,
    `  curl ${baseUrl}/messages/count_tokens ${apiKey} ${json} -d '{${hello}}'`,
    "",
    "The header x-sandbox simulates faults: -H 'x-sandbox: pace=200', 'error=529', 'cut=3', ...",
    "Ctrl-C stops it.",
  ];
}
