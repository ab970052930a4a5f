import assert from "node:assert/strict";
import { linkSync, lstatSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findClockContradiction } from "../../../../src/cli/doctor/checks/clock.ts";
import { diskSpaceFindings, formatBytes } from "../../../../src/cli/doctor/checks/ledger.ts";
import {
  ledgerDirectoryFindings,
  ledgerFileFindings,
} from "../../../../src/cli/doctor/checks/ledger-permissions.ts";
import { fixForeignFile } from "../../../../src/core/foreign-file.ts";
import { isAtLeast } from "../../../../src/cli/doctor/checks/version.ts";
import { scratchDirectory } from "../../../helpers/process/scratch-directory.ts";
import { localTime } from "../../../../src/cli/terminal/short-time.ts";

const MINUTE = 60_000;
const local = (time: number) => localTime(new Date(time).toISOString());

const NOW = Date.parse("2026-11-21T12:00:00Z");

for (const [version, needed, expected] of [
  ["20.19.0", "20.19", true],
  ["20.18.9", "20.19", false],
  ["20.9.0", "20.19", false],
  ["22.0.0", "20.19", true],
  ["18.20.0", "20.19", false],
  ["20.19.0-nightly", "20.19", true],
  ["20", "20.19", false],
] as const) {
  test(`Node ${version} is ${expected ? "" : "not "}recent enough when ${needed} is required`, () => {
    assert.equal(isAtLeast(version, needed), expected);
  });
}

test("less than 100 MB of free disk space is a failure, less than 1 GB a warning", () => {
  const verdicts = [99e6, 100e6, 999e6, 1e9].map((free) => diskSpaceFindings(free, "/x")[0]?.verdict ?? "ok");
  assert.deepEqual(verdicts, ["failure", "warning", "warning", "ok"]);
});

test("formatBytes uses the unit that fits the number", () => {
  const written = [0, 999, 1_000, 1_234_567, 80_100_000_000].map(formatBytes);
  assert.deepEqual(written, ["0 bytes", "999 bytes", "1.0 kB", "1.2 MB", "80.1 GB"]);
});

test("a time over five minutes ahead contradicts the clock, a time over five minutes behind only when it is current", () => {
  const contradicts = (minutes: number, isCurrent: boolean) => {
    return findClockContradiction(NOW, [{ at: NOW + minutes * MINUTE, what: "it", isCurrent }]) !== null;
  };
  assert.deepEqual(
    [contradicts(4, false), contradicts(6, false), contradicts(-6, false)],
    [false, true, false],
  );
  assert.deepEqual([contradicts(4, true), contradicts(6, true), contradicts(-6, true)], [false, true, true]);
  assert.equal(
    findClockContradiction(NOW, [{ at: NOW + 10 * MINUTE, what: "the answer", isCurrent: true }]),
    `this clock says ${local(NOW)}, but the answer is from ${local(NOW + 10 * MINUTE)}`,
  );
});

const self = process.getuid?.() ?? 0;

test("symbolic links, hard links and other users' files in the ledger are failures", (t) => {
  const directory = scratchDirectory(t);
  const path = (name: string) => join(directory, name);
  writeFileSync(path("file"), "", { mode: 0o600 });
  writeFileSync(path("doubled"), "", { mode: 0o600 });
  linkSync(path("doubled"), path("second"));
  symlinkSync(path("file"), path("link"));
  const judge = (name: string, uid = self) => {
    const findings = ledgerFileFindings(directory, [{ name, stats: lstatSync(path(name)) }], uid);
    return findings.map(({ verdict, fix }) => `${verdict} ${fix}`);
  };
  assert.deepEqual(judge("file"), []);
  assert.deepEqual(judge("doubled"), [`failure mv '${path("doubled")}' '${path("doubled")}.away'`]);
  assert.match(judge("link")[0] ?? "", /^failure mv /);
  assert.deepEqual(judge("file", self + 1), [
    `failure ${fixForeignFile(path("file"), lstatSync(path("file")).uid, self + 1)}`,
  ]);
});

test("a ledger directory that is a link or belongs to another user is a failure", (t) => {
  const directory = scratchDirectory(t);
  const link = `${directory}/link`;
  symlinkSync(directory, link);
  assert.deepEqual(ledgerDirectoryFindings(directory, lstatSync(directory), self), []);
  for (const [path, uid] of [
    [link, self],
    [directory, self + 1],
  ] as const) {
    const [finding] = ledgerDirectoryFindings(path, lstatSync(path), uid);
    assert.equal(finding?.verdict, "failure", path);
  }
});
