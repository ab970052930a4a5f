import assert from "node:assert/strict";
import { test } from "node:test";
import { SOUGHT } from "../../../../src/core/ledger/spend.ts";
import { OUTCOMES, formatState, parseState } from "../../../../src/local/dashboard/page/state.ts";

for (const hash of [
  "#/overview?since=7d&by=tool&unit=cost",
  "#/sessions?since=2026-11-01&until=2026-11-05&by=model&unit=tokens&tool=a%26b",
  "#/overview?since=last-month&by=tool&unit=cost",
  "#/requests?since=30d&by=tool&unit=cost&outcome=refused&sort=cost&project=%2Fsrc",
  "#/sessions?since=7d&by=tool&unit=cost&search=shop+fix-login",
  "#/live?since=2026-11-01T08%3A00%3A00.000Z&until=2026-11-01T10%3A00%3A00.000Z&by=key&unit=cost&session=%23",
]) {
  test(`${hash} keeps what it says`, () => assert.equal(formatState(parseState(hash)), hash));
}

const START = "#/overview?since=today&by=tool&unit=cost";

for (const hash of [
  "",
  "#/nowhere",
  "#/overview?since=8d&by=secret&unit=both&outcome=odd&what=ever",
  "#/overview?since=2026-02-30",
  "#/overview?since=--config",
]) {
  test(`${hash || "an empty fragment"} is the start, because nothing of it is known`, () =>
    assert.equal(formatState(parseState(hash)), START));
}

test("an end before its start is left out", () => {
  assert.equal(parseState("#/overview?since=2026-11-05&until=2026-11-01").until, undefined);
});

test("the page can ask for all that people look for in a list", () => {
  assert.deepEqual(OUTCOMES, ["all", ...SOUGHT]);
});
