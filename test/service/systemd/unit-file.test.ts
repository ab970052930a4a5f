import assert from "node:assert/strict";
import { test } from "node:test";
import { settingsOf, valuesOf, withValues } from "../../../src/service/systemd/unit-file.ts";

const UNIT = `# A=comment
[Unit]
Description=a = b

[Service]
ExecStart=/bin/one \\
  two
;Old=1
List=a
Other=
List=b
`;

test("settings are read with their sections; comments are not, and joined lines count as one", () => {
  assert.deepEqual(settingsOf(UNIT), [
    { section: "Unit", name: "Description", value: "a = b" },
    { section: "Service", name: "ExecStart", value: "/bin/one    two" },
    { section: "Service", name: "List", value: "a" },
    { section: "Service", name: "Other", value: "" },
    { section: "Service", name: "List", value: "b" },
  ]);
  assert.deepEqual(valuesOf(UNIT, "List"), ["a", "b"]);
  assert.deepEqual(valuesOf(UNIT, "Old"), []);
});

test("other values stand in the place of the first one, and nothing else changes", () => {
  const changed = withValues(UNIT, "List", ["x", "y", "z"]);
  assert.equal(changed, UNIT.replace("List=a", "List=x\nList=y\nList=z").replace("Other=\nList=b", "Other="));
  assert.deepEqual(valuesOf(withValues(UNIT, "List", []), "List"), []);
});

test("a setting that the template has not is an error, not a unit without it", () => {
  assert.throws(() => withValues(UNIT, "Missing", ["x"]), /Missing=/);
});
