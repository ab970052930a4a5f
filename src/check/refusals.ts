import { type Check, expect, Fault, type Installation, REPORT, STOP, type Subject } from "./check.ts";
import { type Answer, type Ask, valuesOf } from "./client.ts";
import { post, quote } from "./send.ts";
import { randomWord } from "./samples.ts";

const foreignHost: Check<Subject> = {
  name: "foreign host",
  proves: "a request addressed to another host name is refused (DNS rebinding)",
  remedy: `any web page could use your key; ${STOP}`,
  async run({ client }) {
    const { port } = client;
    for (const host of [`${randomWord()}.invalid:${port}`, `127.0.0.1.${randomWord()}.invalid`]) {
      await expectRefusal(client, { method: "GET", path: "/v1/models", headers: [["host", host]] }, 403);
    }
  },
};

const webOrigin: Check<Subject> = {
  name: "web origin",
  proves: "a request of a web page is refused",
  remedy: `any web page could use your key; ${STOP}`,
  async run({ client }) {
    const headers = [["origin", `https://${randomWord()}.invalid`]] as const;
    await expectRefusal(client, { method: "GET", path: "/v1/models", headers }, 403);
  },
};

const preflight: Check<Subject> = {
  name: "preflight",
  proves: "a browser that asks what a web page may do is granted nothing",
  remedy: `any web page could use your key; ${STOP}`,
  async run({ client }) {
    const headers = [
      ["origin", `https://${randomWord()}.invalid`],
      ["access-control-request-method", "POST"],
    ] as const;
    await expectRefusal(client, { method: "OPTIONS", path: "/v1/messages", headers }, 403, 405);
    await expectRefusal(client, { method: "OPTIONS", path: "/v1/messages" }, 405);
  },
};

const unknownPath: Check<Subject> = {
  name: "unknown path",
  proves: "a path that is no route, or only looks like one, is 404 and goes nowhere",
  remedy: `requests could reach other parts of the service with your key; ${STOP}`,
  async run({ client }) {
    for (const path of [`/v1/${randomWord()}/${randomWord()}`, "/v1/../v1/models", "//v1/models"]) {
      await expectRefusal(client, { method: "GET", path }, 404);
    }
  },
};

const crossSite: Check<Subject> = {
  name: "cross-site",
  proves: "a request that the browser itself calls cross-site is refused",
  remedy: `any web page could use your key; ${STOP}`,
  async run({ client }) {
    for (const site of ["cross-site", "same-site"]) {
      const headers = [["sec-fetch-site", site]] as const;
      await expectRefusal(client, { method: "GET", path: "/v1/models", headers }, 403);
    }
  },
};

const simplePost: Check<Subject> = {
  name: "simple POST",
  proves: "a POST that a web page can send without asking first is refused: it must be application/json",
  remedy: `any web page could spend your money without seeing the answer; ${STOP}`,
  async run({ client }) {
    for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
      await expectRefusal(client, post("/v1/messages", [["content-type", type]]), 415);
    }
  },
};

const webSocket: Check<Subject> = {
  name: "websocket",
  proves: "a WebSocket is answered 426 at once, on which Codex goes on with POST",
  remedy: `Codex would hang, and web pages are not held back from WebSockets; ${STOP}`,
  async run({ client }) {
    const headers = [
      ["connection", "Upgrade"],
      ["upgrade", "websocket"],
      ["sec-websocket-version", "13"],
      ["sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="],
    ] as const;
    await expectRefusal(client, { method: "GET", path: "/v1/responses", headers }, 426);
  },
};

const wrongMethod: Check<Subject> = {
  name: "wrong method",
  proves: "a route asked with another method is 405, says which one it takes, and goes nowhere",
  remedy: `requests could do something else upstream than the routes allow; ${REPORT}`,
  async run({ client }) {
    const answer = await expectRefusal(client, { method: "DELETE", path: "/v1/messages" }, 405);
    const allowed = valuesOf(answer.headers, "allow").join();
    expect(allowed.includes("POST"), `the allow header is "${allowed}"`);
  },
};

/** @throws Fault unless the answer has one of these statuses, is tollkeeper's own, and grants a browser nothing */
async function expectRefusal(
  client: Subject["client"],
  request: Ask,
  ...statuses: readonly number[]
): Promise<Answer> {
  const answer = await client.ask(request);
  const { status, headers } = answer;
  if (!statuses.includes(status)) {
    throw new Fault(
      `${request.method} ${request.path}: ${statuses.join(" or ")} expected, got ${quote(answer)}`,
    );
  }
  expect(valuesOf(headers, "x-tollkeeper-refusal").length === 1, `${status} came from somebody else`);
  const grant = headers.find((text) => /^access-control-/i.test(text));
  expect(grant === undefined, `${status} came with ${grant}`);
  return answer;
}

/** Adds that the upstream must not have been asked, and the ledger not written to. */
function atHome(check: Check<Subject>): Check {
  return {
    ...check,
    async run(on) {
      const [asked, recorded] = [on.echo.seen.length, (await on.records()).length];
      await check.run(on);
      expect(on.echo.seen.length === asked, "refused, and yet the upstream was asked");
      expect((await on.records()).length === recorded, "refused, and yet it stands in the ledger");
    },
  };
}

const listed: Check = {
  name: "listed hosts",
  proves: "hosts and origins that the configuration lists are let in",
  remedy: `containers or editors that you listed would be refused; look at "listen": tollkeeper config check`,
  async run({ client, config }: Installation) {
    const { allowedHosts, allowedOrigins } = config.listen;
    const marks = [
      ...allowedHosts.map((host) => ["host", host] as const),
      ...allowedOrigins.map((origin) => ["origin", origin] as const),
    ];
    for (const mark of marks) {
      const answer = await client.ask({ method: "GET", path: "/v1/models", headers: [mark] });
      expect(answer.status === 200, `${mark.join(" ")}: ${quote(answer)}`);
    }
  },
};

/** Safe to try on anybody's daemon: refused before anything is asked of an upstream, and without a trace in the ledger. */
export const DAEMON_CHECKS: readonly Check<Subject>[] = [foreignHost, webOrigin, preflight, unknownPath];

/** No web page and no stranger gets in. */
export const REFUSAL_CHECKS: readonly Check[] = [
  ...[...DAEMON_CHECKS, crossSite, simplePost, webSocket, wrongMethod].map(atHome),
  listed,
];
