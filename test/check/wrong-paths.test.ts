import assert from "node:assert/strict";
import { test } from "node:test";
import { INSTALLATION_CHECKS } from "../../src/check/list.ts";
import { TEST_KEY } from "../helpers/gate.ts";
import type { Bend, HopBends } from "./hop.ts";
import { failuresOf, LISTED_HOST, type Wrong } from "./wrong-path.ts";

const replacing =
  (what: string | RegExp, by: string): Bend =>
  (text) =>
    text.replace(what, by);

/** Asks the server something else in place of passing this answer on. */
function insteadOf(answer: string, request: string): Bend {
  return (text, { server }) => {
    if (!text.startsWith(answer)) return text;
    server.write(`${request} HTTP/1.1\r\nhost: hop\r\ncontent-length: 0\r\n\r\n`);
    return null;
  };
}

/** Passes a chunk of an answer on when the next one has come; the last one brings all with it. */
function oneBehind(): Bend {
  let held = "";
  return (text) => {
    if (!/^[0-9a-f]+\r\n/.test(text)) return text;
    const before = held;
    held = text.endsWith("0\r\n\r\n") ? "" : text;
    return held === "" ? before + text : before;
  };
}

/** Passes the head of a stream on with what comes next. */
function headWithBody(): Bend {
  let held = "";
  return (text) => {
    const all = held + text;
    const isBareHead = all.includes("text/event-stream") && all.indexOf("\r\n\r\n") === all.length - 4;
    held = isBareHead ? all : "";
    return isBareHead ? null : all;
  };
}

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

/** A tollkeeper that is wrong in one thing, and the one check that must notice. */
interface Case extends Wrong {
  title: string;
  fails: string;
  /** The check notices by waiting for what never comes. */
  hangs?: true;
  fault: RegExp;
}

const CASES: readonly Case[] = [
  {
    title: "writes the JSON of requests anew",
    back: { up: replacing('"z":1.0', '"z":1.1') },
    fails: "request bodies",
    fault: /^JSON body: differs from byte \d+ on \(100 bytes sent, 100 received\)$/,
  },
  {
    title: "forgets that a request is encoded",
    back: { up: replacing("content-encoding: zstd\r\n", "") },
    fails: "request bodies",
    fault: /^content-encoding: should be "zstd", is missing$/,
  },
  {
    title: "decodes the query",
    front: { up: replacing("%2F", "/") },
    fails: "query",
    fault: /^sent .*%2F.*, received .*x=\/\.\./,
  },
  {
    title: "drops a header that it does not know",
    back: { up: replacing(/x-[^:]*: odd[^\r]*\r\n/, "") },
    fails: "request headers",
    fault: /is missing$/,
  },
  {
    title: "adds no version",
    back: { up: replacing("anthropic-version: 2023-06-01\r\n", "") },
    fails: "version header",
    fault: /^anthropic-version: should be "2023-06-01", is missing$/,
  },
  {
    title: "lets the oauth beta through",
    front: { up: replacing("oauth-2025-04-20", "oauth-hidden") },
    back: { up: replacing("oauth-hidden", "oauth-2025-04-20") },
    fails: "oauth beta",
    fault: /is "one-1,oauth-2025-04-20,two-2"$/,
  },
  {
    title: "passes the client's cookie on",
    front: { up: replacing("\r\ncookie:", "\r\nx-kept:") },
    back: { up: replacing("\r\nx-kept:", "\r\ncookie:") },
    fails: "credentials",
    fault: /^\/v1\/models: the client's cookie reached the upstream$/,
  },
  {
    title: "puts a bearer on beside x-api-key when tokens are counted",
    back: {
      up: (text) =>
        text.startsWith("POST /v1/messages/count_tokens")
          ? text.replace("\r\n", "\r\nauthorization: Bearer x\r\n")
          : text,
    },
    fails: "credentials",
    fault: /authorization is there besides x-api-key$/,
  },
  {
    title: "sends a tool to the default upstream",
    front: { up: replacing("/t/codex/", "/") },
    fails: "tools",
    fault: /^codex: asked the upstream for \/v1\/messages instead of \/other\/v1\/messages$/,
  },
  {
    title: "writes the JSON of answers anew",
    front: { down: replacing('"z":1.0', '"z":1.1') },
    fails: "answer bodies",
    fault: /^JSON: differs from byte/,
  },
  {
    title: "forgets that an answer is compressed",
    front: { down: replacing("content-encoding: gzip\r\n", "") },
    fails: "answer bodies",
    fault: /^gzip: content-encoding is ""$/,
  },
  {
    title: "changes retry-after",
    front: { down: replacing("retry-after: 7", "retry-after: 60") },
    fails: "errors",
    fault: /^400: retry-after was "7" and became "60"$/,
  },
  {
    title: "makes 500 of 529",
    front: { down: replacing("HTTP/1.1 529", "HTTP/1.1 500") },
    fails: "errors",
    fault: /^529 became 500$/,
  },
  {
    title: "sends a request again that was answered 429",
    back: { down: insteadOf("HTTP/1.1 429", "POST /v1/messages") },
    fails: "errors",
    fault: /^the upstream got a second request: POST \/v1\/messages$/,
  },
  {
    title: "follows a redirect",
    back: { down: insteadOf("HTTP/1.1 307", "POST /elsewhere") },
    fails: "redirects",
    fault: /^the upstream got a second request: POST \/elsewhere$/,
  },
  {
    title: "passes headers of one connection on",
    front: { up: replacing("\r\nproxy-connection:", "\r\nx-kept:") },
    back: { up: replacing("\r\nx-kept:", "\r\nproxy-connection:") },
    fails: "hop-by-hop headers",
    fault: /reached the upstream$/,
  },
  {
    title: "grants every web page its answers",
    front: {
      down: replacing("HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\naccess-control-allow-origin: *\r\n"),
    },
    fails: "no grants",
    fault: /^access-control-allow-origin was passed on$/,
  },
  {
    title: "passes the key of an error body on",
    // In disguise the gate does not know it. Of the same length, because it stands in a chunk.
    back: { down: replacing(/4711(?=-do-not-leak"})/, "1174") },
    front: { down: replacing("1174", "4711") },
    fails: "key in answers",
    fault: /^it stands in the body$/,
  },
  {
    title: "passes the key of a header on",
    front: { down: replacing(/(?<=x-echo: Bearer )\*+/, TEST_KEY) },
    fails: "key in answers",
    fault: /^it stands in the header x-echo$/,
  },
  {
    title: "holds each event back until the next one comes",
    front: { down: oneBehind() },
    fails: "unbuffered",
    hangs: true,
    fault: /^nothing came for/,
  },
  {
    title: "holds the head back until the first event comes",
    front: { down: headWithBody() },
    fails: "early head",
    hangs: true,
    fault: /^nothing came for/,
  },
  {
    title: "does not notice that a client has left",
    front: { hidesLeaving: true },
    fails: "cancelled",
    hangs: true,
    fault: /^nothing came for/,
  },
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
  {
    title: "loses a record",
    records: (records) => records.filter(({ route }) => route !== "/messages/count_tokens"),
    fails: "records",
    fault: /^6 requests left 5 records$/,
  },
  {
    title: "writes a record twice",
    records: (records) => records.flatMap((record) => [record, record]),
    fails: "records",
    fault: /^6 requests left 12 records$/,
  },
  {
    title: "counts cached input twice",
    back: {
      down: replacing(
        '"cache_read_input_tokens":7,"cache_creation_input_tokens":5,"output_tokens":11',
        '"cache_read_input_tokens":9,"cache_creation_input_tokens":5,"output_tokens":11',
      ),
    },
    fails: "records",
    fault: /^\/messages: tokens should be 30,7,5,11,53, are 30,9,5,11,55$/,
  },
];

test("a right tollkeeper passes every check, with hops on its way, too", async (t) => {
  assert.deepEqual(await failuresOf(t, {}, []), []);
});

for (const { title, fails, hangs, fault, ...wrong } of CASES) {
  test(`one that ${title} fails "${fails}", and nothing else`, async (t) => {
    const failures = await failuresOf(t, wrong, hangs === true ? [fails] : []);
    assert.deepEqual(
      failures.map(({ name }) => name),
      [fails],
      failures.map((failure) => failure.fault).join("\n"),
    );
    assert.match(failures[0]?.fault ?? "", fault);
    assert.match(failures[0]?.remedy ?? "", /tollkeeper (?:check --json|config check)$/);
  });
}

test("every check has something wrong that it notices", () => {
  const noticed = new Set(CASES.map(({ fails }) => fails));
  assert.deepEqual(
    INSTALLATION_CHECKS.map(({ name }) => name).filter((name) => !noticed.has(name)),
    [],
  );
});
