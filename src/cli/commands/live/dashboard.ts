import { openInBrowser } from "../../../adapters/programs/browser.ts";
import { askRunning, daemonStatus, listeningPort, notifyDaemon } from "../../../daemon/running-daemon.ts";
import type { Command } from "../../command.ts";
import { explainAbsence } from "../../service/explain-absence.ts";
import { askLine } from "../../terminal/ask.ts";
import { isInteractive } from "../../terminal/confirm.ts";
import { note, print } from "../../terminal/console.ts";

interface DashboardArguments {
  print: boolean;
  logout: boolean;
  approve: string | undefined;
}

/** `tollkeeper dashboard`: opens the page in a browser, and approves it where the page shows a code. */
export const command: Command<DashboardArguments> = {
  builder: (yargs) =>
    yargs
      .option("print", { type: "boolean", default: false, describe: "Print the URL, and open nothing" })
      .option("approve", {
        type: "string",
        requiresArg: true,
        describe: "Let in the page that shows this code",
      })
      .option("logout", { type: "boolean", default: false, describe: "End the sessions of all open pages" }),
  handler: async ({ print: isPrinted, logout, approve: code }) => {
    const status = await daemonStatus();
    if (status === null) throw await explainAbsence();
    if (logout) {
      await notifyDaemon("end-dashboard-sessions");
      return print("all sessions of the dashboard have ended");
    }
    if (code !== undefined) return approve(code);
    const url = `http://127.0.0.1:${listeningPort(status)}/`;
    const isOpened = !isPrinted && (await openInBrowser(url));
    if (isOpened) note(`opened ${url} in your browser`);
    else print(url);
    if (!showsCode(status.access.mode)) return;
    const typed = isPrinted || !isInteractive() ? null : await askLine("Code that the page shows: ");
    if (typed === null || typed === "")
      return note("to let the page in, type the code that it shows: tollkeeper dashboard --approve CODE");
    await approve(typed);
  },
};

/** True where the daemon cannot know by the connection that a page is its own user's. */
function showsCode(mode: "open" | "token"): boolean {
  return mode !== "open" || process.platform !== "linux";
}

async function approve(code: string): Promise<void> {
  await askRunning("approve-dashboard", { code });
  print("the page is approved");
}
