import { replacing, type HopBends } from "./hop.ts";
import { LISTED_HOST, type Wrong, type WrongCase } from "./wrong-path.ts";

/** Lets a cross-site request through, and makes a refusal of its answer. */
function refusingLate(): HopBends {
  const mark = "sec-fetch-site: cross-site\r\n";
  let isLate = false;
  return {
    up(text) {
      isLate = text.includes(mark);
      return text.replace(mark, "");
    },
    down: (text) =>
      isLate ? text.replace("200 OK\r\n", "403 Forbidden\r\nx-tollkeeper-refusal: late\r\n") : text,
  };
}

/** The first check of the refusals looks at the ledger before and after. */
function oneMoreAtSecondLook(): NonNullable<Wrong["records"]> {
  let looks = 0;
  return (records) => {
    looks += 1;
    return looks === 2 ? [...records, ...records.slice(-1)] : records;
  };
}

/** What can be wrong at the door. */
export const WRONG_REFUSALS: readonly WrongCase[] = [
  {
    title: "takes any host name",
    front: { up: replacing(/host: [^\r]*\.invalid:(\d+)/, "host: 127.0.0.1:$1") },
    fails: "foreign host",
    fault: /^GET \/v1\/models: 403 expected, got 200 /,
  },
  {
    title: "takes a host name that begins like its own",
    front: { up: replacing(/host: (127\.0\.0\.1)\.[^\r]*/, `host: ${LISTED_HOST}`) },
    fails: "foreign host",
    fault: /^GET \/v1\/models: 403 expected, got 200 /,
  },
  {
    title: "takes requests of web pages",
    front: { up: replacing(/origin: [^\r]*\r\n/, "") },
    fails: "web origin",
    fault: /403 expected, got 200/,
  },
  {
    title: "answers a preflight",
    front: {
      up: (text, { client }) => {
        if (!text.startsWith("OPTIONS")) return text;
        client.write("HTTP/1.1 204 No Content\r\naccess-control-allow-origin: *\r\n\r\n");
        return null;
      },
    },
    fails: "preflight",
    fault: /^OPTIONS \/v1\/messages: 403 or 405 expected, got 204$/,
  },
  {
    title: "resolves dots in the path",
    front: { up: replacing("/v1/../v1/", "/v1/") },
    fails: "unknown path",
    fault: /^GET \/v1\/\.\.\/v1\/models: 404 expected, got 200 /,
  },
  {
    title: "takes cross-site requests",
    front: { up: replacing("sec-fetch-site: same-site\r\n", "") },
    fails: "cross-site",
    fault: /403 expected, got 200/,
  },
  {
    title: "takes any content type",
    front: { up: replacing("application/x-www-form-urlencoded", "application/json") },
    fails: "simple POST",
    fault: /415 expected, got 200/,
  },
  {
    title: "does not know WebSockets",
    front: { up: replacing("upgrade: websocket\r\n", "") },
    fails: "websocket",
    fault: /426 expected, got 405/,
  },
  {
    title: "does not look at the method",
    front: { up: replacing("DELETE /v1/messages", "GET /v1/models") },
    fails: "wrong method",
    fault: /^DELETE \/v1\/messages: 405 expected, got 200 /,
  },
  {
    title: "does not say which method a route takes",
    front: { down: replacing("allow: POST\r\n", "") },
    fails: "wrong method",
    fault: /^the allow header is ""$/,
  },
  {
    title: "refuses a cross-site request only after the upstream was asked",
    front: refusingLate(),
    fails: "cross-site",
    fault: /^refused, and yet the upstream was asked$/,
  },
  {
    title: "writes a refusal into the ledger",
    records: oneMoreAtSecondLook(),
    fails: "foreign host",
    fault: /^refused, and yet it stands in the ledger$/,
  },
  {
    title: "does not let a listed host in",
    front: { up: replacing(`host: ${LISTED_HOST}`, "host: other") },
    fails: "listed hosts",
    fault: /^host host\.docker\.internal:8655: 403 /,
  },
];
