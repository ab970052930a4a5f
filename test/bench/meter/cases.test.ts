import assert from "node:assert/strict";
import { test } from "node:test";
import { createRequestScanner } from "../../../src/core/usage/request-scanner.ts";
import { createResponseMeter } from "../../../src/proxy/exchange/response-meter.ts";
import { listCases } from "./cases.ts";

test("every case of the meter runs and finds the usage that it was fed", () => {
  const cases = listCases({ createResponseMeter, createRequestScanner });
  for (const { run } of cases) assert.doesNotThrow(run);
  assert.equal(new Set(cases.map(({ name }) => name)).size, cases.length);
});

test("a case throws when its meter finds other usage", () => {
  const blind = {
    createResponseMeter: (setup: Parameters<typeof createResponseMeter>[0]) =>
      createResponseMeter({ ...setup, status: 500 }, null),
    createRequestScanner,
  };
  const broken = listCases(blind).filter(({ run }) => {
    try {
      run();
      return false;
    } catch {
      return true;
    }
  });
  assert.equal(broken.length, 9);
});
