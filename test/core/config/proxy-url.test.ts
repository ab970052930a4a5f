import assert from "node:assert/strict";
import { test } from "node:test";
import { parseProxyUrl } from "../../../src/core/config/proxy-url.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";

const WANTED = 'must be the address of an HTTP proxy such as "http://proxy.example.com:8080"';

const ESCAPE =
  'in its user name and password, write "%", "/", "?", "#", "@" and ":" as "%25", "%2F", "%3F", "%23", "%40" and "%3A"';

const VALID: [text: string, origin: string, credentials: string | null][] = [
  ["http://proxy.example.com:8080", "http://proxy.example.com:8080", null],
  ["HTTP://Proxy.Example.com:8080/", "http://proxy.example.com:8080", null],
  ["https://proxy.example.com", "https://proxy.example.com", null],
  ["http://10.0.0.1:3128", "http://10.0.0.1:3128", null],
  ["http://[fd00::1]:3128", "http://[fd00::1]:3128", null],
  ["http://ada:word@proxy:8080", "http://proxy:8080", "ada:word"],
  ["http://ada@proxy:8080", "http://proxy:8080", "ada:"],
  ["http://CORP%5Cada:p%40ss%3Aw%25@proxy:8080", "http://proxy:8080", "CORP\\ada:p@ss:w%"],
  ["http://ada:p%C3%A4ss@proxy:8080", "http://proxy:8080", "ada:p\u00e4ss"],
];

for (const [text, origin, credentials] of VALID) {
  test(`parses the proxy address ${text}`, () => {
    const address = parseProxyUrl(text);
    assert.ok("origin" in address, JSON.stringify(address));
    assert.equal(address.origin, origin);
    if (credentials === null) assert.equal(address.credentials, null);
    else assert.ok(address.credentials?.isSameAs(new Secret(credentials)));
  });
}

const INVALID: [text: string, problem: string][] = [
  ["", WANTED],
  ["socks5://proxy:1080", `${WANTED}; SOCKS proxies are not supported`],
  ["ftp://proxy:21", WANTED],
  ["http:///", WANTED],
  ["http://proxy:99999", WANTED],
  ["proxy.example.com:8080", `${WANTED}; did you mean "http://proxy.example.com:8080"?`],
  ["ada:told-to-nobody@proxy:8080", `${WANTED}; did you mean "http://USER:PASSWORD@proxy:8080"?`],
  ["http://proxy:8080/pac", 'must end after the port; did you mean "http://proxy:8080"?'],
  ["http://proxy:8080?told-to-nobody", 'must end after the port; did you mean "http://proxy:8080"?'],
  [
    "http://ada:told-to-nobody@proxy/x",
    'must end after the port; did you mean "http://USER:PASSWORD@proxy"?',
  ],
  ["http://ada:100%@proxy:8080", ESCAPE],
  ["http://ada:12#told-to-nobody@proxy:8080", ESCAPE],
  ["http://ada:12/told-to-nobody@proxy:8080", ESCAPE],
  ["http://ada:told?to-nobody@proxy:8080", `${WANTED}; ${ESCAPE}`],
  ["http://ada:1@told/to-nobody@proxy:8080", ESCAPE],
  ["ada:12#told-to-nobody@proxy:8080", `${WANTED}; ${ESCAPE}`],
  [
    "http://a%3Ab:told-to-nobody@proxy",
    "its user name must not contain a colon, and neither it nor the password may contain control characters",
  ],
  [
    "http://ada:told%0D%0Ato-nobody@proxy",
    "its user name must not contain a colon, and neither it nor the password may contain control characters",
  ],
];

test("repeats no part of a password in its result, whatever characters it has", () => {
  const inside = [
    "",
    "/",
    "?",
    "#",
    "@",
    ":",
    "%",
    "\\",
    " ",
    "[",
    "]",
    "\n",
    "%zz",
    "1/",
    "80/",
    ":80@",
    "@80/",
    "//",
  ];
  const schemes = ["http://", "https://", "", "http:", "//", "ftp://", "HTTP://"];
  const tails = ["@proxy.example", "@proxy.example:3128", "@proxy.example/x?y=1"];
  const addresses = schemes.flatMap((scheme) =>
    inside.flatMap((one) =>
      inside.flatMap((two) =>
        inside.flatMap((three) => tails.map((tail) => `${scheme}ada:${one}told${two}nobody${three}${tail}`)),
      ),
    ),
  );
  for (const text of addresses) {
    const parsed = parseProxyUrl(text);
    assert.doesNotMatch("problem" in parsed ? parsed.problem : parsed.origin, /told|nobody/, text);
  }
});

for (const [text, problem] of INVALID) {
  test(`refuses the proxy address ${JSON.stringify(text)} without repeating its password`, () => {
    assert.deepEqual(parseProxyUrl(text), { problem });
    assert.doesNotMatch(problem, /told|nobody|12/);
  });
}
