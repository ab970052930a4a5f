import assert from "node:assert/strict";
import { test } from "node:test";
import { gatherEvidence, type Evidence } from "../../../src/cli/doctor/evidence.ts";
import { failure, ok, type Check } from "../../../src/check/check.ts";
import { CHECKS, runChecks } from "../../../src/cli/doctor/checks.ts";
import { createUpstream } from "../../../src/core/config/config.ts";
import { resolveKeyRef } from "../../../src/core/policy/configured-keys.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";
import { setEnvironment } from "../../helpers/process/set-environment.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

test("a check that throws is reported as a failure with the reason, in order with the findings of the other checks", async (t) => {
  setEnvironment(t, { HOME: scratchDirectory(t) });
  const checks: Check<Evidence>[] = [
    { id: "a", title: "first", run: () => Promise.reject(new Error("broken")) },
    { id: "b", title: "second", run: () => Promise.resolve([ok("fine")]) },
    {
      id: "c",
      title: "third",
      run() {
        throw new Error("at once");
      },
    },
  ];
  const fix = "try again with: tollkeeper doctor";
  assert.deepEqual(await runChecks(checks, gatherEvidence("/nowhere/config.jsonc")), [
    { id: "a", title: "first", verdict: "failure", message: "could not be checked: broken", fix },
    { id: "b", title: "second", verdict: "ok", message: "fine", fix: null },
    { id: "c", title: "third", verdict: "failure", message: "could not be checked: at once", fix },
  ]);
});

const LEAKING: Check<Evidence> = {
  id: "a",
  title: "a",
  run: () => Promise.resolve([failure("it said some+key/of=ours", "unset some%2Bkey%2Fof%3Dours")]),
};

test("keys are redacted from messages and fixes", async () => {
  const upstream = createUpstream("default", "https://api.example.com/v1");
  const secret = new Secret("some+key/of=ours");
  const key = {
    upstream,
    ref: resolveKeyRef(upstream, null),
    usedBy: [],
    isOwn: true,
    secret,
    failure: null,
    skipReason: null,
  };
  const evidence = { ...gatherEvidence("/nowhere/config.jsonc"), keys: () => Promise.resolve([key]) };
  const [finding] = await runChecks([LEAKING], evidence);
  assert.deepEqual(
    [finding?.message, finding?.fix],
    [`it said ${"*".repeat(16)}`, `unset ${"*".repeat(22)}`],
  );
});

test("every check has an id and a title of its own", () => {
  for (const names of [CHECKS.map(({ id }) => id), CHECKS.map(({ title }) => title)]) {
    assert.equal(new Set(names).size, CHECKS.length);
  }
});
