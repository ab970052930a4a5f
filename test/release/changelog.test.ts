import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { findSection } from "./changelog.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

const CHANGELOG = `# Changelog

## 0.2.0 (unreleased)

- New.

## 0.1.0 (2026-12-01)

The first.

### Fixed

- A bug.
`;

test("the notes of a version are its section, to the next version", () => {
  assert.deepEqual(findSection(CHANGELOG, "0.1.0"), {
    date: "2026-12-01",
    text: "The first.\n\n### Fixed\n\n- A bug.\n",
  });
  assert.deepEqual(findSection(CHANGELOG, "0.2.0"), { date: null, text: "- New.\n" });
});

test("a version without a section, and a part of a version, have no notes", () => {
  assert.equal(findSection(CHANGELOG, "0.3.0"), null);
  assert.equal(findSection(CHANGELOG, "0.1"), null);
});

test("the changelog has a section of the version in package.json", () => {
  const { version } = JSON.parse(read("package.json")) as { version: string };
  assert.ok((findSection(read("CHANGELOG.md"), version)?.text.length ?? 0) > 100);
});
