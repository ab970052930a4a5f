// G2, the secret for a collector: it goes to the collector that it was stored for, encrypted, and nowhere else.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { Receiver } from "../../src/cli/export/receiver.ts";
import { checkConfig, type Config } from "../../src/core/config/config.ts";
import { KeyFailure } from "../../src/core/failure.ts";
import type { KeyRef } from "../../src/core/secrets/key-source.ts";
import { Secret } from "../../src/core/secrets/secret.ts";
import { startOtlpReceiver } from "../helpers/otlp/otlp-receiver.ts";

const isOver = new AbortController().signal;

function configure(otlp: object): Config | string {
  const result = checkConfig({ export: { otlp } }, "/home/user");
  return result.ok ? result.config : result.issues.map(({ message }) => message).join();
}

/** Returns what is wrong with a configuration. */
function problemOf(otlp: object): string {
  const problem = configure(otlp);
  assert.ok(typeof problem === "string", "it is accepted");
  return problem;
}

/** A keychain that has a secret for this origin alone. */
function keychainFor(origin: string) {
  return {
    read(ref: KeyRef) {
      if (ref.origin === origin) return Promise.resolve(new Secret("the-secret"));
      return Promise.reject(new KeyFailure("missing", `no secret for ${ref.origin}`, "store one"));
    },
  };
}

function receiverAt(t: TestContext, endpoint: string, origin = endpoint): Receiver {
  const config = configure({ endpoint, headers: { authorization: { scheme: "Bearer" } } });
  assert.ok(typeof config === "object" && config.export.otlp !== null);
  const receiver = new Receiver(config.export.otlp, config.outbound, keychainFor(origin));
  t.after(() => receiver.close());
  return receiver;
}

test("a secret is bound to the origin of its collector: an edited endpoint gets nothing at all", async (t) => {
  const other = await startOtlpReceiver(t);
  const receiver = receiverAt(t, other.endpoint, "https://otel.example.com:4318");
  const { verdict } = await receiver.send("logs", Buffer.of(), isOver);
  assert.equal(verdict.kind, "later");
  assert.equal(other.requests.length, 0);
});

test("a redirect is never followed, so that no other host gets the secret", async (t) => {
  const elsewhere = await startOtlpReceiver(t);
  const collector = await startOtlpReceiver(t);
  collector.behave(() => ({ status: 307, headers: { location: `${elsewhere.endpoint}/v1/logs` } }));
  const { verdict } = await receiverAt(t, collector.endpoint).send("logs", Buffer.of(), isOver);
  assert.equal(collector.requests[0]?.headers.authorization, "Bearer the-secret");
  assert.equal(verdict.kind, "later");
  assert.equal(elsewhere.requests.length, 0);
});

for (const endpoint of ["http://otel.example.com:4318", "http://10.0.0.7:4318", "http://192.168.1.9"]) {
  test(`${endpoint} is refused, accepted with plainHttp, and never with a secret`, () => {
    assert.match(problemOf({ endpoint }), /anyone on the network path could read/);
    assert.equal(typeof configure({ endpoint, plainHttp: true }), "object");
    const headers = { authorization: {} };
    assert.match(
      problemOf({ endpoint, plainHttp: true, headers }),
      /secret of the header authorization unencrypted/,
    );
  });
}

test("the file holds no credential: neither in the endpoint nor as a header's value", () => {
  assert.match(
    problemOf({ endpoint: "https://user:password@otel.example.com" }),
    /must not contain a user name or password/,
  );
  const value = `sk-ant-${"x".repeat(40)}`;
  const message = problemOf({ endpoint: "https://otel.example.com", headers: { "x-team": { value } } });
  assert.ok(message.length > 0 && !message.includes(value));
  const named = problemOf({
    endpoint: "https://otel.example.com",
    headers: { authorization: { value: "abc" } },
  });
  assert.match(named, /authorization/);
});
