import type { IncomingMessage, ServerResponse } from "node:http";

/** The same for everyone: it reveals nothing about the daemon, its configuration, its use or the request. */
const PAGE = Buffer.from(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>tollkeeper</title>
<h1>tollkeeper</h1>
<p>This is not a website. AI tools on this computer use this address to reach their API. tollkeeper adds the API key, which the
tools do not have, and records what each tool uses. Web pages cannot use this address.</p>
<p>In a terminal:</p>
<dl>
<dt><code>tollkeeper connect TOOL</code><dd>points a tool at tollkeeper
<dt><code>tollkeeper usage</code><dd>shows what each tool has used
<dt><code>tollkeeper doctor</code><dd>finds problems and prints the command that fixes each
</dl>
</html>
`);

/** Nothing is loaded, run or sent, and no page may frame it. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

const HEADERS = Object.entries({
  "content-type": "text/html; charset=utf-8",
  "content-length": String(PAGE.length),
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
}).flat();

/** Responds to a browser that a person has pointed here. It needs no token, and it leaves no record. */
export function respondWithPage(_req: IncomingMessage, res: ServerResponse): void {
  res.writeHead(200, HEADERS).end(PAGE);
}
