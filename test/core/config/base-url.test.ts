import assert from "node:assert/strict";
import { test } from "node:test";
import { parseBaseUrl } from "../../../src/core/config/base-url.ts";

const ABSOLUTE = 'must be an absolute URL such as "https://api.example.com/v1"';
const USER = "must not contain a user name or password; store the key with: tollkeeper key set";
const PLAIN_HTTP = "must start with https://, unless the host is this machine";
const PLAIN_PATH = "must have a path without empty segments and escapes";

const ADDRESSES: [given: string, origin: string, basePath: string][] = [
  ["https://api.example.com/v1", "https://api.example.com", "/v1"],
  ["https://api.example.com/v1/", "https://api.example.com", "/v1"],
  ["https://API.Example.com:443/v1", "https://api.example.com", "/v1"],
  ["https://gateway.example.com:8443/api/v1", "https://gateway.example.com:8443", "/api/v1"],
  ["http://localhost:9000/v1", "http://localhost:9000", "/v1"],
  ["http://127.0.0.1:9000/v1", "http://127.0.0.1:9000", "/v1"],
  ["http://127.9.9.9/v1", "http://127.9.9.9", "/v1"],
  ["http://[::1]:9000/v1", "http://[::1]:9000", "/v1"],
];

for (const [given, origin, basePath] of ADDRESSES) {
  test(`parses ${given} as origin ${origin} and base path ${basePath}`, () => {
    assert.deepEqual(parseBaseUrl(given), { baseUrl: origin + basePath, origin, basePath });
  });
}

const REFUSALS: [given: string, problem: string][] = [
  ["", ABSOLUTE],
  ["/v1", ABSOLUTE],
  ["ftp://api.example.com/v1", ABSOLUTE],
  ["https://", ABSOLUTE],
  ["https:///v1", ABSOLUTE],
  ["https://exa mple.com/v1", ABSOLUTE],
  ["api.example.com/v1", `${ABSOLUTE}; did you mean "https://api.example.com/v1"?`],
  ["api.example.com", `${ABSOLUTE}; did you mean "https://api.example.com/v1"?`],
  ["localhost:9000/v1", `${ABSOLUTE}; did you mean "http://localhost:9000/v1"?`],
  ["https://api.example.com", 'has no path; did you mean "https://api.example.com/v1"?'],
  ["https://api.example.com/", 'has no path; did you mean "https://api.example.com/v1"?'],
  [
    "https://bedrock-runtime.us-east-1.amazonaws.com",
    'has no path; did you mean "https://bedrock-runtime.us-east-1.amazonaws.com/model"?',
  ],
  ["http://api.example.com/v1", `${PLAIN_HTTP}; did you mean "https://api.example.com/v1"?`],
  ["http://127.0.0.1.example.com/v1", `${PLAIN_HTTP}; did you mean "https://127.0.0.1.example.com/v1"?`],
  ["http://localhost.example.com/v1", `${PLAIN_HTTP}; did you mean "https://localhost.example.com/v1"?`],
  ["https://user@api.example.com/v1", USER],
  ["https://user:secret@api.example.com/v1", USER],
  [
    "https://api.example.com/v1?beta=true",
    'must end before "?" and "#"; did you mean "https://api.example.com/v1"?',
  ],
  [
    "https://api.example.com/v1#top",
    'must end before "?" and "#"; did you mean "https://api.example.com/v1"?',
  ],
  ["https://api.example.com/v1?", 'must end before "?" and "#"; did you mean "https://api.example.com/v1"?'],
  [
    "https://api.example.com/v1/messages",
    'must end before the route; did you mean "https://api.example.com/v1"?',
  ],
  [
    "https://api.example.com/v1/messages/count_tokens/",
    'must end before the route; did you mean "https://api.example.com/v1"?',
  ],
  [
    "https://api.example.com/responses",
    'must end before the route; did you mean "https://api.example.com/v1"?',
  ],
  ["https://api.example.com/v1//", PLAIN_PATH],
  ["https://api.example.com/a%2fb/v1", PLAIN_PATH],
];

for (const [given, problem] of REFUSALS) {
  test(`refuses the base URL "${given}": ${problem}`, () => {
    const [, meant = null] = /did you mean "(.+)"\?$/.exec(problem) ?? [];
    assert.deepEqual(parseBaseUrl(given), { problem, meant });
  });
}
