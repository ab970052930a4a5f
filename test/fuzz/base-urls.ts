import assert from "node:assert/strict";
import * as fc from "fast-check";
import { parseBaseUrl } from "../../src/core/config/base-url.ts";
import { property, type Property } from "./property.ts";
import { anyText } from "./texts.ts";
import { splitWords } from "./words.ts";

const scheme = oneOf("https:// https:// http:// HTTPS:// ftp:// //");
const host =
  oneOf(`api.example.com api.example.com 127.0.0.1 127.1 0x7f.1 localhost LOCALHOST [::1] evil.example
  127.0.0.1.evil.example 127.evil.example user:pw@api.example.com localhost@evil.example xn-- \u00e9.example`);
const port = oneOf(":443 :8080 :99999 :");
const path = oneOf(
  "/v1 /v1/ /api/v1 / /v1/messages /v1/../x /./v1 /a//v1 /%76%31 /v1%2f \\v1 /v1; /v1/sk-abc",
);
const end = fc.constantFrom("?a=b", "#x", "?", " ", "\n", "/");
const nothing = fc.constant("");

function oneOf(text: string): fc.Arbitrary<string> {
  return fc.constantFrom(...splitWords(text));
}

const url = fc
  .tuple(scheme, host, fc.oneof(nothing, port), fc.oneof(nothing, path, path), fc.oneof(nothing, end))
  .map((parts) => parts.join(""));

const goodUrl = fc
  .tuple(
    oneOf("https://api.example.com https://api.example.com:8443 http://127.0.0.1:4000 http://localhost"),
    oneOf("/v1 /api/v1"),
    fc.constantFrom("", "/"),
  )
  .map(([origin, basePath, slash]) => ({ origin, basePath, slash }));

export const BASE_URLS: readonly Property[] = [
  property(
    "base URL: a valid one is accepted with or without a trailing slash",
    { batch: 50 },
    fc.property(goodUrl, ({ origin, basePath, slash }) => {
      const baseUrl = origin + basePath;
      assert.deepEqual(parseBaseUrl(baseUrl + slash), { baseUrl, origin, basePath });
    }),
  ),
  property(
    "base URL: an accepted one points at the host that it names, and parsing its result changes nothing",
    { batch: 2000 },
    fc.property(fc.oneof(url, anyText), (text) => {
      const address = parseBaseUrl(text);
      if ("problem" in address) return assert.notEqual(address.problem, "");
      const { protocol, hostname, username, password, origin, search, hash } = new URL(text);
      assert.deepEqual([username, password, search, hash], ["", "", "", ""]);
      assert.doesNotMatch(text, /[?#]/);
      assert.deepEqual([address.origin, address.baseUrl], [origin, origin + address.basePath]);
      assert.ok(
        protocol === "https:" ||
          ["localhost", "[::1]"].includes(hostname) ||
          /^127(\.\d+){3}$/.test(hostname),
      );
      assert.match(address.basePath, /^(\/[^/%?#\\]+)+$/);
      assert.deepEqual(parseBaseUrl(address.baseUrl), address);
      assert.deepEqual(parseBaseUrl(`${address.baseUrl}/`), address);
    }),
  ),
];
