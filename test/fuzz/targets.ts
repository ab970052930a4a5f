import assert from "node:assert/strict";
import * as fc from "fast-check";
import { buildRouteTable, parseRequestTarget, type Route } from "../../src/core/http/routes.ts";
import { listRoutes } from "../../src/core/http/built-in-routes.ts";
import { parseToolName } from "../../src/core/config/names.ts";
import { upstreamAt } from "../helpers/gate/gate.ts";
import { property, type Property } from "./property.ts";
import { splitWords } from "./words.ts";

const ROUTES = listRoutes(
  upstreamAt("https://api.example.com/v1", {
    routes: [
      {
        method: "POST",
        path: "/moderations",
        auth: "bearer",
        dialect: "none",
        spend: "never",
        accepts: ["json"],
      },
      {
        method: "GET",
        path: "/responses/{id}",
        auth: "bearer",
        dialect: "responses",
        spend: "never",
        accepts: ["json"],
      },
      {
        method: "POST",
        path: "/responses/{id}/cancel",
        auth: "bearer",
        dialect: "none",
        spend: "never",
        accepts: ["json"],
      },
      {
        method: "GET",
        path: "/v2.1/files/{id}",
        auth: "bearer",
        dialect: "none",
        spend: "never",
        accepts: ["json"],
      },
    ],
  }),
);
const TABLE = buildRouteTable(ROUTES);

/** Parts of valid and of malicious targets (SECURITY.md B1 and B2). */
const PARTS = [
  ...splitWords(`/v1 /v1 /t/codex /t/ /T/x /messages /messages /count_tokens /models /responses /resp_1 /cancel
    /chat/completions /v2.1/files/f1 /v2x1/files/f1 / // /.. /. /%2e%2e %2f ?beta=true ? #x ;x \\ @evil.example
    http://evil.example evil.example:443 * %00 {id} V1 MESSAGES %6dessages`),
  "\0",
  " ",
  "\t",
  "\r\n",
  "\u00e9",
  "\u212a",
  "a".repeat(260),
];

const OWN_PATHS = splitWords(
  "/models /responses /messages /messages/count_tokens /responses/r-1 /v2.1/files/f-1",
);

const target: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.nat(3), fc.constantFrom(...OWN_PATHS, "/v2.1/files/f.1"), fc.constantFrom("", "", ...PARTS))
      .map(([versions, path, rest]) => "/v1".repeat(versions) + path + rest),
  },
  {
    weight: 8,
    arbitrary: fc.array(fc.constantFrom(...PARTS), { maxLength: 6 }).map((parts) => parts.join("")),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
);

const method = fc.constantFrom("GET", "POST", "POST", "PUT", "HEAD", "CONNECT", "get");

/** True for a segment that a server cannot read as another path, by what it may decode to. */
function isPlainId(segment: string): boolean {
  if (!/^(?:[\w.~!$&'()*+,;=:@-]|%[0-9a-f]{2})+$/i.test(segment)) return false;
  if (/^\.{0,2}(?:;|$)/.test(segment)) return false;
  return !/%(?:[01][0-9a-f]|2[5ef]|3b|5c|7f)/i.test(segment);
}

/** True when the path is exactly one of the route's. Does not use a regular expression over the whole path. */
function isPathOf({ path: wanted }: Route, path: string): boolean {
  const segments = path.split("/");
  while (segments[1] === "v1" && path.split("/").length - segments.length < 2) segments.splice(1, 1);
  const wantedSegments = wanted.split("/");
  const isModel = wanted === "/models/{id}" && segments.length > wantedSegments.length;
  if (isModel) wantedSegments.push(...segments.slice(wantedSegments.length).map(() => "{id}"));
  const ids = wantedSegments.flatMap((one, i) => (one === "{id}" ? [segments[i] ?? ""] : []));
  return (
    segments.length === wantedSegments.length &&
    ids.join("/").length <= 256 &&
    wantedSegments.every((one, i) => (one === "{id}" ? isPlainId(segments[i] ?? "") : one === segments[i]))
  );
}

/** A tool's valid target, and how it must be parsed. */
const ownTarget = fc.record(
  {
    // A version of an API, and what looks like a key, cannot be a tool's name.
    toolMark: fc.option(
      fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,63}$/).filter((name) => parseToolName(name) === name),
    ),
    path: fc
      .tuple(fc.nat(2), fc.constantFrom(...OWN_PATHS))
      .map(([versions, path]) => "/v1".repeat(versions) + path),
    query: fc.constantFrom("", "?", "?beta=true", "?limit=5&after=%2F.."),
  },
  // As the parser's results.
  { noNullPrototype: true },
);

export const TARGETS: readonly Property[] = [
  property(
    "target: a valid one is parsed exactly and has a route",
    { batch: 500 },
    fc.property(ownTarget, (own) => {
      const { toolMark, path, query } = own;
      assert.deepEqual(
        parseRequestTarget(`${toolMark === null ? "" : `/t/${toolMark}`}${path}${query}`),
        own,
      );
      assert.ok(["GET", "POST"].some((asked) => "route" in (TABLE.find(asked, path) ?? {})));
    }),
  ),
  property(
    "target: parsing fails, or adds, loses and changes no byte",
    { batch: 2000 },
    fc.property(target, (text) => {
      const parsed = parseRequestTarget(text);
      if (parsed === null) return;
      const mark = parsed.toolMark === null ? "" : text.slice(0, `/t/${parsed.toolMark}`.length);
      assert.equal(mark.toLowerCase(), parsed.toolMark === null ? "" : `/t/${parsed.toolMark}`);
      const path = parsed.path === "/" && !text.slice(mark.length).startsWith("/") ? "" : parsed.path;
      assert.equal(mark + path + parsed.query, text);
      assert.match(text, /^\/[!-~]*$/);
      assert.ok(!text.includes("#") && !parsed.path.includes("?"));
    }),
  ),
  property(
    "target: a route is found for exactly its own paths",
    { batch: 2000 },
    fc.property(method, target, (asked, path) => {
      const own = ROUTES.filter((route) => isPathOf(route, path));
      const found = TABLE.find(asked, path);
      const expected = own.find((route) => route.method === asked);
      if (expected === undefined) {
        const allow = own.map((route) => route.method).join(", ");
        assert.deepEqual(found, own.length === 0 ? null : { allow });
        return;
      }
      assert.ok(found !== null && "route" in found);
      assert.equal(found.route, expected);
      assert.ok(
        path.endsWith(found.path) && ["", "/v1", "/v1/v1"].includes(path.slice(0, -found.path.length)),
      );
    }),
  ),
];
