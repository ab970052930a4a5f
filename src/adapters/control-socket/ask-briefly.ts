import { lstatSync } from "node:fs";
import { connect } from "node:net";
import { parseJson } from "../../core/json.ts";
import { isNotListening, refuseLongPath } from "../unix-socket/path.ts";

/** What became of a question to the daemon. `unclear`: it gave no answer that can be read, such as one of an earlier version. */
type BriefAnswer = { kind: "answer"; value: unknown } | { kind: "off" | "late" | "unclear" };

const OK = /^HTTP\/1\.[01] 200 /;

/**
 * Asks the daemon that listens on `path`, as askDaemon does, but without Node's HTTP client, which takes 9 ms to load and to use.
 * HTTP 1.0 has no chunks. Never rejects.
 * @param question a command of the control socket that is answered with JSON, and its query
 */
export async function askBriefly(path: string, question: string, limitMs: number): Promise<BriefAnswer> {
  try {
    refuseLongPath(path);
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return { kind: "off" };
    const response = await exchange(path, `POST /${question} HTTP/1.0\r\n\r\n`, limitMs);
    if (response === null) return { kind: "late" };
    const end = response.indexOf("\r\n\r\n");
    const value = OK.test(response) ? parseJson(response.slice(end + 4)) : undefined;
    return value === undefined || value === null ? { kind: "unclear" } : { kind: "answer", value };
  } catch (error) {
    return { kind: isNotListening(error) ? "off" : "unclear" };
  }
}

/** Resolves to the whole response; null when it takes too long. */
function exchange(path: string, request: string, limitMs: number): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const timer = setTimeout(() => {
      resolve(null);
      socket.destroy();
    }, limitMs);
    let response = "";
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => (response += text));
    socket.on("end", () => resolve(response));
    socket.on("error", reject);
    socket.on("close", () => clearTimeout(timer));
    socket.write(request);
  });
}
