import assert from "node:assert/strict";
import { test } from "node:test";
import { readProxyUrl } from "../../../src/core/config/proxy-url.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";

const WANTED = 'must be the address of an HTTP proxy such as "http://proxy.example.com:8080"';

const ESCAPE =
  'in its user name and password "%", "/", "?", "#", "@" and ":" must be written as "%25", "%2F", "%3F", "%23", "%40" and "%3A"';

const GOOD: [text: string, origin: string, credentials: string | null][] = [
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

for (const [text, origin, credentials] of GOOD) {
  test(`${text} is read`, () => {
    const address = readProxyUrl(text);
    assert.ok("origin" in address, JSON.stringify(address));
    assert.equal(address.origin, origin);
    if (credentials === null) assert.equal(address.credentials, null);
    else assert.ok(address.credentials?.isSameAs(new Secret(credentials)));
  });
}

const BAD: [text: string, problem: string][] = [
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
    "its user name may hold no colon, and neither it nor the password control characters",
  ],
  [
    "http://ada:told%0D%0Ato-nobody@proxy",
    "its user name may hold no colon, and neither it nor the password control characters",
  ],
];

test("whatever stands in a password, no part of it is in what is said of the address", () => {
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
    const read = readProxyUrl(text);
    assert.doesNotMatch("problem" in read ? read.problem : read.origin, /told|nobody/, text);
  }
});

for (const [text, problem] of BAD) {
  test(`${JSON.stringify(text)} is refused, and its password is not repeated`, () => {
    assert.deepEqual(readProxyUrl(text), { problem });
    assert.doesNotMatch(problem, /told|nobody|12/);
  });
}
