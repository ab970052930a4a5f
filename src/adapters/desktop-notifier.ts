import { execFile } from "node:child_process";
import type { Log } from "../ports.ts";

/** A notification daemon that hangs must not keep processes. */
const LIMIT_MS = 10_000;

/** The text is an argument of the script and no part of it. */
const SCRIPT = 'on run argv\ndisplay notification (item 1 of argv) with title "tollkeeper"\nend run';

/** Shows a notification on the user's desktop, where there is one. What fails is only logged. */
export function notifyDesktop(text: string, log: Log): void {
  const { program, args } = process.platform === "darwin" ? onMac(text) : onFreedesktop(text);
  execFile(program, args, { timeout: LIMIT_MS }, (error) => {
    if (error !== null) log.info({ program, reason: error.message }, "a notification could not be shown");
  });
}

function onMac(text: string): { program: string; args: string[] } {
  return { program: "osascript", args: ["-e", SCRIPT, text] };
}

function onFreedesktop(text: string): { program: string; args: string[] } {
  return {
    program: "notify-send",
    args: ["--app-name=tollkeeper", "--icon=dialog-warning", "--", "tollkeeper", escapeMarkup(text)],
  };
}

/** The body of a notification is markup (Desktop Notifications Specification, "Markup"), and a project's path may have any character. */
function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
