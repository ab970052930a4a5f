import assert from "node:assert/strict";
import { test } from "node:test";
import { parseSettings, readValues, replaceValues } from "../../../src/service/systemd/unit-syntax.ts";

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

test("parseSettings reads settings with their sections, skips comments and joins continued lines", () => {
  assert.deepEqual(parseSettings(UNIT), [
    { section: "Unit", name: "Description", value: "a = b" },
    { section: "Service", name: "ExecStart", value: "/bin/one    two" },
    { section: "Service", name: "List", value: "a" },
    { section: "Service", name: "Other", value: "" },
    { section: "Service", name: "List", value: "b" },
  ]);
  assert.deepEqual(readValues(UNIT, "List"), ["a", "b"]);
  assert.deepEqual(readValues(UNIT, "Old"), []);
});

test("replaceValues puts the new values in place of the first old one and changes nothing else", () => {
  const changed = replaceValues(UNIT, "List", ["x", "y", "z"]);
  assert.equal(changed, UNIT.replace("List=a", "List=x\nList=y\nList=z").replace("Other=\nList=b", "Other="));
  assert.deepEqual(readValues(replaceValues(UNIT, "List", []), "List"), []);
});

test("replaceValues throws for a setting that the unit does not have", () => {
  assert.throws(() => replaceValues(UNIT, "Missing", ["x"]), /Missing=/);
});
