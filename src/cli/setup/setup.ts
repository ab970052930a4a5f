import { configFailure, readConfigFile } from "../../adapters/config-file.ts";
import { daemonStatus } from "../../daemon/running-daemon.ts";
import { resolveConfigPath } from "../load-config.ts";
import { note, print } from "../terminal/console.ts";
import { offerService } from "./offer-service.ts";
import { offerTools, selectTools } from "./offer-tools.ts";
import { requireAnswers, type SetupOptions } from "./options.ts";
import { Progress } from "./progress.ts";
import { setUpUpstream } from "./set-up-upstream.ts";

const INTRODUCTION = `\
This sets up tollkeeper: where requests go, the key for it, the background service, and your AI tools.
You can stop at any time with Ctrl-C, and run it again: what is there is kept.`;

/** Exit code after Ctrl-C, as in shells: 128 plus the number of SIGINT. */
const INTERRUPTED = 130;

/**
 * `tollkeeper setup`: the upstream and its key, the service, the tools; each is kept where it is there already.
 * @throws Failure, after printing what was done before it
 */
export async function setUp(options: SetupOptions): Promise<void> {
  const file = resolveConfigPath(options.config);
  const reading = await readConfigFile(file);
  if (!reading.ok) throw configFailure(file, reading.problems);
  requireAnswers(options, reading.config);
  const tools = selectTools(options);
  const progress = new Progress();
  const stopWatching = tellInterruption(progress);
  if (!options.yes) note(INTRODUCTION);
  try {
    await setUpUpstream(file, reading.config, options, progress);
    const service = await offerService(file, options, progress);
    // Without the daemon that was wanted, a tool would be led to a port that nobody or another program listens on.
    if (service === "failed")
      progress.add("tools", "left alone; connect them with: tollkeeper connect --all");
    else await offerTools(file, tools, options, progress);
  } catch (error) {
    if (!progress.isEmpty) progress.show("Before the error below, this was done:");
    throw error;
  } finally {
    stopWatching();
  }
  progress.show("\nSet up:");
  const isRunning = (await daemonStatus().catch(() => null)) !== null;
  for (const line of ["\nWhat to type next:", ...(isRunning ? [] : START), ...NEXT]) print(line);
}

const START = ["  tollkeeper serve     run it here; your tools reach nothing before it runs"];

const NEXT = [
  "  tollkeeper usage     see which tool has spent how many tokens, after you have used one",
  "  tollkeeper doctor    find out what is wrong, if something does not work",
];

/** After Ctrl-C, says what was done. Reading a hidden key ends the program itself, with the same exit code. */
function tellInterruption(progress: Progress): () => void {
  const interrupt = () => process.exit(INTERRUPTED);
  const tell = (code: number) => {
    if (code !== INTERRUPTED) return;
    if (progress.isEmpty) note("\nStopped. Nothing was changed; to start again, type: tollkeeper setup");
    else progress.show("\nStopped. This was done; to go on, type: tollkeeper setup");
  };
  process.once("SIGINT", interrupt);
  process.once("exit", tell);
  return () => {
    process.off("SIGINT", interrupt);
    process.off("exit", tell);
  };
}
