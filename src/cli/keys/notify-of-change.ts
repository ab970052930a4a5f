import { notifyDaemon } from "../../daemon/running-daemon.ts";
import { print } from "../terminal/console.ts";

/** Makes a running daemon forget the keys that it has in memory, so that the next request reads them again. */
export async function notifyOfChange(): Promise<void> {
  if (await notifyDaemon("keys-changed")) print("The running daemon uses it from the next request on.");
}
