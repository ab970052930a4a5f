import { formatCommand } from "../text/shell-words.ts";
import type { Refusal } from "./refusal.ts";
import { quietest } from "./retry-triggers.ts";

const EDIT = "tollkeeper config edit";

/** The request names another host than those that we listen on. `localPort` is null for the Unix socket. */
export function hostNotAllowed(localPort: number | null): Refusal {
  const port = localPort === null ? "" : `:${localPort}`;
  return {
    code: "host_not_allowed",
    problem: "the request names a host that is not allowed",
    command: EDIT,
    // In two parts: a port such as 42999 looks like a status at which tools try again, and takes its part with it.
    advice: `list the name in "listen.allowedHosts"; or use 127.0.0.1${port}, localhost${port} or [::1]${port}`,
  };
}

export const ORIGIN_NOT_ALLOWED: Refusal = {
  code: "origin_not_allowed",
  problem: "web pages are not allowed here",
  command: EDIT,
  advice: `to admit an editor's web view, list its origin in "listen.allowedOrigins"`,
};

/** A browser would show the response, or run it. */
export function documentNotAllowed(url: string): Refusal {
  return {
    code: "browser_not_allowed",
    problem: "a browser may not open this",
    command: formatCommand(["curl", url]),
    reason: "a page that an upstream sends would run as one of tollkeeper's own",
    advice: "programs may request it",
  };
}

/** The response makes the browser remove the worker (Clear Site Data section 3.1). */
export const SERVICE_WORKER: Refusal = {
  code: "browser_not_allowed",
  problem: "a service worker is in between",
  command: "tollkeeper dashboard",
  reason: "an earlier program on this port has left it in the browser",
  advice: "the browser was told to remove it",
  headers: ["clear-site-data", '"storage"'],
};

export const ONLY_HTTP_1_1: Refusal = {
  code: "http_version",
  problem: "only HTTP/1.1 is supported",
  command: "curl --http1.1",
};

/** 415. `url` is the request's own, for the command that sends it as JSON. */
export function onlyJson(url: string): Refusal {
  return {
    code: "content_type",
    problem: "the body of a POST must be JSON",
    reason: "curl says that it is a form unless a header says that it is JSON",
    advice: "put the body into a file, such as body.json",
    command: postCommand(url),
  };
}

/** For requests that no HTTP library sends. `check` shows that the fault is not tollkeeper's. */
export function badRequest(problem: string): Refusal {
  return { code: "bad_request", problem, command: "tollkeeper check" };
}

/** The request has been here before. `localPort` is null for the Unix socket. */
export function loopDetected(localPort: number | null): Refusal {
  const where =
    localPort === null
      ? "leads back to the socket on which tollkeeper listens"
      : quietest(
          `names port ${localPort}, where tollkeeper itself listens`,
          "names the port on which tollkeeper itself listens",
        );
  return {
    code: "loop_detected",
    problem: "a request came back to tollkeeper",
    reason: `the "baseUrl" of an upstream ${where}`,
    advice: '"baseUrl" must name the API',
    command: EDIT,
  };
}

/** Returns the command that sends a file as JSON. */
export function postCommand(url: string): string {
  return formatCommand([
    "curl",
    quietest(url, "URL"),
    "-H",
    "content-type: application/json",
    "-d",
    "@body.json",
  ]);
}
