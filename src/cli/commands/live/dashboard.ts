import { openInBrowser } from "../../../adapters/programs/browser.ts";
import { askDaemon } from "../../../adapters/control-socket.ts";
import { findControlPath } from "../../../daemon/control/find-path.ts";
import { daemonStatus, listeningPort } from "../../../daemon/running-daemon.ts";
import type { Command } from "../../command.ts";
import { explainAbsence } from "../../service/explain-absence.ts";
import { note, print } from "../../terminal/console.ts";

interface DashboardArguments {
  print: boolean;
  logout: boolean;
}

/** `tollkeeper dashboard`: opens the page in a browser, with a ticket for its feeds. */
export const command: Command<DashboardArguments> = {
  builder: (yargs) =>
    yargs
      .option("print", { type: "boolean", default: false, describe: "Print the URL, and open nothing" })
      .option("logout", { type: "boolean", default: false, describe: "End the sessions of all open pages" }),
  handler: async ({ print: isPrinted, logout }) => {
    const status = await daemonStatus();
    if (status === null) throw await explainAbsence(null);
    if (logout) {
      await askDaemon(await findControlPath(), "end-dashboard-sessions");
      return print("all sessions of the dashboard have ended");
    }
    const { ticket } = (await askDaemon(await findControlPath(), "dashboard-ticket")) as { ticket: string };
    const url = `http://127.0.0.1:${listeningPort(status)}/#ticket=${ticket}`;
    const isOpened = !isPrinted && (await openInBrowser(url));
    if (isOpened) return note("opened in your browser");
    print(url);
    note("the URL works once, within a minute");
  },
};
