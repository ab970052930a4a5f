import { configFailure, readConfigFile } from "../../adapters/config-file.ts";
import { daemonStatus } from "../../daemon/running-daemon.ts";
import { resolveConfigPath } from "../load-config.ts";
import { EXIT, note, print } from "../terminal/console.ts";
import { offerService, type ServiceOutcome } from "./offer-service.ts";
import { offerTools, selectTools } from "./offer-tools.ts";
import { requireAnswers, type SetupOptions } from "./options.ts";
import { Progress } from "./progress.ts";
import { setUpUpstream } from "./set-up-upstream.ts";

const INTRODUCTION = `\
This sets up tollkeeper: the API that your tools use, its key, the background service, and the tools themselves.
You can stop at any time with Ctrl-C and run it again; it keeps what is there.`;

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
  let service: ServiceOutcome;
  try {
    await setUpUpstream(file, reading, options, progress);
    service = await offerService(file, options, progress);
    // Without the daemon that was wanted, a tool would be pointed at a port where nothing listens, or another program.
    if (service === "failed")
      progress.add(
        "tools",
        "not connected, because the service failed; later, type: tollkeeper connect --all",
      );
    else await offerTools(file, tools, options, progress);
  } catch (error) {
    if (!progress.isEmpty) progress.show("Done before the error below:");
    throw error;
  } finally {
    stopWatching();
  }
  progress.show("\nSet up:");
  const isRunning = (await daemonStatus().catch(() => null)) !== null;
  const start = service === "failed" ? "service install" : "serve          ";
  print("\nWhat to type next:");
  if (!isRunning) print(`  tollkeeper ${start}  start it; until then your tools cannot reach any service`);
  for (const line of NEXT) print(line);
}

const NEXT = [
  "  tollkeeper usage            see how many tokens each tool has used",
  "  tollkeeper doctor           find problems and how to fix them",
];

function interrupt(): never {
  process.exit(EXIT.interrupted);
}

/** After Ctrl-C, says what was done. Reading a hidden key ends the program itself, with the same exit code. */
function tellInterruption(progress: Progress): () => void {
  const tell = (code: number) => {
    if (code !== EXIT.interrupted) return;
    if (progress.isEmpty) note("\nStopped. Nothing was changed; to start again, type: tollkeeper setup");
    else progress.show("\nStopped. This was done; to continue, type: tollkeeper setup");
  };
  process.once("SIGINT", interrupt);
  process.once("exit", tell);
  return () => {
    process.off("SIGINT", interrupt);
    process.off("exit", tell);
  };
}
