import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const PAGE_TESTS = fileURLToPath(new URL("../../local/dashboard/", import.meta.url));

test("no test of the dashboard waits by an eval in the page, which fails unless it is true at once", () => {
  const files = readdirSync(PAGE_TESTS, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  assert.ok(files.length > 10);
  const waiting = files.filter((file) =>
    readFileSync(PAGE_TESTS + file, "utf8").includes(".waitForFunction("),
  );
  assert.deepEqual(waiting, []);
});
