import assert from "node:assert/strict";
import { test } from "node:test";
import { gatherEvidence } from "../../../src/cli/doctor/evidence.ts";
import { failure, ok, type Check } from "../../../src/cli/doctor/finding.ts";
import { CHECKS } from "../../../src/cli/doctor/list.ts";
import { runChecks } from "../../../src/cli/doctor/run.ts";
import { keyRefOf, plainUpstream } from "../../../src/core/config/config.ts";
import { Secret } from "../../../src/core/secrets/secret.ts";
import { enter, scratchDirectory } from "../../helpers/keychain/keychain-session.ts";

test("a check that throws has failed, by its name and with why; the others go on, in their order", async (t) => {
  enter(t, { HOME: scratchDirectory(t) });
  const checks: Check[] = [
    { id: "a", title: "first", look: () => Promise.reject(new Error("broken")) },
    { id: "b", title: "second", look: () => Promise.resolve([ok("fine")]) },
    {
      id: "c",
      title: "third",
      look() {
        throw new Error("at once");
      },
    },
  ];
  const fix = "try again: tollkeeper doctor";
  assert.deepEqual(await runChecks(checks, gatherEvidence("/nowhere/config.jsonc")), [
    { id: "a", title: "first", verdict: "failure", message: "could not be checked: broken", fix },
    { id: "b", title: "second", verdict: "ok", message: "fine", fix: null },
    { id: "c", title: "third", verdict: "failure", message: "could not be checked: at once", fix },
  ]);
});

const TELLTALE: Check = {
  id: "a",
  title: "a",
  look: () => Promise.resolve([failure("it said some+key/of=ours", "unset some%2Bkey%2Fof%3Dours")]),
};

test("a key that somebody else says is blotted out of messages and fixes", async () => {
  const upstream = plainUpstream("default", "https://api.example.com/v1");
  const secret = new Secret("some+key/of=ours");
  const key = {
    upstream,
    ref: keyRefOf(upstream, null),
    usedBy: [],
    secret,
    failure: null,
    passedOver: null,
  };
  const evidence = { ...gatherEvidence("/nowhere/config.jsonc"), keys: () => Promise.resolve([key]) };
  const [finding] = await runChecks([TELLTALE], evidence);
  assert.deepEqual(
    [finding?.message, finding?.fix],
    [`it said ${"*".repeat(16)}`, `unset ${"*".repeat(22)}`],
  );
});

test("no two checks have the same id or title", () => {
  for (const names of [CHECKS.map(({ id }) => id), CHECKS.map(({ title }) => title)]) {
    assert.equal(new Set(names).size, CHECKS.length);
  }
});
