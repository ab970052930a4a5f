import { replacing, type RelayTampering } from "../tampering-relay.ts";
import { LISTED_HOST, LISTED_PORT, type Defect, type DefectCase } from "../defective-path.ts";

/** Lets a cross-site request through and turns its response into a refusal. */
function refuseLate(): RelayTampering {
  const crossSite = "sec-fetch-site: cross-site\r\n";
  let isLate = false;
  return {
    up(text) {
      isLate = text.includes(crossSite);
      return text.replace(crossSite, "");
    },
    down: (text) =>
      isLate ? text.replace("200 OK\r\n", "403 Forbidden\r\nx-tollkeeper-refusal: late\r\n") : text,
  };
}

/** Adds a record the second time the ledger is read: the first check of refusals reads it before and after. */
function addRecordAtSecondRead(): NonNullable<Defect["records"]> {
  let reads = 0;
  return (records) => {
    reads += 1;
    return reads === 2 ? [...records, ...records.slice(-1)] : records;
  };
}

/** Defects of the refusals. */
export const REFUSAL_DEFECTS: readonly DefectCase[] = [
  {
    title: "accepts any host name",
    front: { up: replacing(/host: [^\r]*\.invalid:(\d+)/, "host: 127.0.0.1:$1") },
    violates: "foreign host",
    fault: /^GET \/v1\/models: 403 expected, got 200 /,
  },
  {
    title: "accepts a host name that begins like its own",
    front: { up: replacing(/host: (127\.0\.0\.1)\.[^\r]*/, `host: ${LISTED_PORT}`) },
    violates: "foreign host",
    fault: /^GET \/v1\/models: 403 expected, got 200 /,
  },
  {
    title: "accepts requests of web pages",
    front: { up: replacing(/origin: [^\r]*\r\n/, "") },
    violates: "web origin",
    fault: /403 expected, got 200/,
  },
  {
    title: "grants a preflight request",
    front: {
      up: (text, { client }) => {
        if (!text.startsWith("OPTIONS")) return text;
        client.write("HTTP/1.1 204 No Content\r\naccess-control-allow-origin: *\r\n\r\n");
        return null;
      },
    },
    violates: "preflight",
    fault: /^OPTIONS \/v1\/messages: 403 or 405 expected, got 204$/,
  },
  {
    title: "resolves dot segments in the path",
    front: { up: replacing("/v1/../v1/", "/v1/") },
    violates: "unknown path",
    fault: /^GET \/v1\/\.\.\/v1\/models: 404 expected, got 200 /,
  },
  {
    title: "accepts cross-site requests",
    front: { up: replacing("sec-fetch-site: same-site\r\n", "") },
    violates: "cross-site",
    fault: /403 expected, got 200/,
  },
  {
    title: "accepts any content type",
    front: { up: replacing("application/x-www-form-urlencoded", "application/json") },
    violates: "simple POST",
    fault: /415 expected, got 200/,
  },
  {
    title: "does not recognize WebSocket requests",
    front: { up: replacing("upgrade: websocket\r\n", "") },
    violates: "websocket",
    fault: /426 expected, got 405/,
  },
  {
    title: "does not check the method",
    front: { up: replacing("DELETE /v1/messages", "GET /v1/models") },
    violates: "wrong method",
    fault: /^DELETE \/v1\/messages: 405 expected, got 200 /,
  },
  {
    title: "does not say which method a route allows",
    front: { down: replacing("allow: POST\r\n", "") },
    violates: "wrong method",
    fault: /^the allow header is ""$/,
  },
  {
    title: "refuses a cross-site request after forwarding it",
    front: refuseLate(),
    violates: "cross-site",
    fault: /^refused, but sent to the upstream$/,
  },
  {
    title: "records a refusal in the ledger",
    records: addRecordAtSecondRead(),
    violates: "foreign host",
    fault: /^refused, but recorded in the ledger$/,
  },
  {
    title: "refuses a host that the configuration lists",
    front: { up: replacing(`host: ${LISTED_HOST}`, "host: other") },
    violates: "listed hosts",
    fault: /^host host\.docker\.internal:8655: 403 /,
  },
  {
    title: "admits a listed host without a token",
    front: { up: replacing(`host: ${LISTED_HOST}`, `host: ${LISTED_PORT}`) },
    violates: "listed hosts",
    fault: /^host host\.docker\.internal:8655, no token: 200 /,
  },
];
