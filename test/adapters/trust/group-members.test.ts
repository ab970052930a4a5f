import assert from "node:assert/strict";
import { userInfo } from "node:os";
import { test } from "node:test";
import type { RunSystemTool } from "../../../src/adapters/programs/run-system-tool.ts";
import { findGroupMembers } from "../../../src/adapters/trust/group-members.ts";

const { username, uid } = userInfo();

/** What dscl(1) of macOS prints, as its manual describes it; none of it was recorded. */
function fakeMac(record: string): RunSystemTool {
  const lists: Record<string, string> = {
    "/Groups PrimaryGroupID": "devs   500\nnobody -2\n",
    "/Users UniqueID": `root  0\n${username}  ${uid}\nbob   502\neve   503\n`,
    "/Users PrimaryGroupID": `root  0\n${username}  20\nbob   20\neve   500\n`,
  };
  return async (_file, [, verb, ...words]) => (verb === "-read" ? record : (lists[words.join(" ")] ?? null));
}

const membersOnMac = (record: string, gid = 500) => findGroupMembers(gid, fakeMac(record), "darwin");

test("on macOS the members of a group are those that it lists and those whose primary group it is, without us and root", async () => {
  const record = `GroupMembership: root ${username} bob\nNo such key: NestedGroups\n`;
  assert.deepEqual(await membersOnMac(record), { name: "devs", others: ["bob", "eve"] });
  assert.deepEqual((await membersOnMac("No such key: GroupMembership\n")).others, ["eve"]);
  assert.deepEqual((await membersOnMac("GroupMembership:\n bob\n")).others, ["bob", "eve"]);
});

test("on macOS it is not known who is in a group that contains a group, has no name, or of which dscl tells nothing", async () => {
  assert.deepEqual(await membersOnMac("GroupMembership: bob\nNestedGroups: ABCD-EF\n"), {
    name: "devs",
    others: null,
  });
  assert.deepEqual(await membersOnMac("", 501), { name: "501", others: null });
  assert.deepEqual(await findGroupMembers(500, async () => null, "darwin"), { name: "500", others: null });
});

test("on macOS the members of a group are those of all groups with its number", async () => {
  const mac = fakeMac("");
  const run: RunSystemTool = async (file, args) => {
    const [, verb, what = "", key = ""] = args;
    if (verb === "-list" && key === "PrimaryGroupID" && what === "/Groups") return "devs 500\ncrew 500\n";
    if (verb === "-read")
      return what === "/Groups/crew" ? "GroupMembership: bob\n" : "GroupMembership: root\n";
    return mac(file, args);
  };
  assert.deepEqual(await findGroupMembers(500, run, "darwin"), { name: "devs", others: ["bob", "eve"] });
});

test("on macOS the administrators, who can become root, are nobody else", async () => {
  assert.deepEqual(await membersOnMac("GroupMembership: bob\n", 80), { name: "admin", others: [] });
});

/** What getent(1) prints: for a number the first line that has it. */
function fakeNames(group: string | null, passwd: string | null): RunSystemTool {
  return async (_file, [kind, id]) => {
    if (kind !== "group" || group === null) return kind === "group" ? group : passwd;
    const first = group.split("\n").find((line) => line.split(":")[2] === id);
    return id === undefined ? group : `${first ?? ""}\n`;
  };
}

/** The strangers in a group that lists these. */
const membersOf = async (members: string) =>
  (await findGroupMembers(700, fakeNames(`g:x:700:${members}\n`, ACCOUNTS), "linux")).others;

const noGetent = process.platform !== "linux" && "needs getent";

const ACCOUNTS = `root:x:0:0::/root:/bin/sh\ntoor:x:0:0::/root:/bin/sh\n${username}:x:${uid}:700::/:/bin/sh\nbob:x:502:502::/:/bin/sh\n`;

test(
  "members of a group are told by name and by number: other names of root and of us are no strangers",
  { skip: noGetent },
  async () => {
    assert.deepEqual(await membersOf(`root,toor,${username}`), []);
    assert.deepEqual(await membersOf("bob"), ["bob"]);
    assert.deepEqual(await membersOf("of-a-directory-service"), ["of-a-directory-service"]);
  },
);

test("members of a group are those of all lines with its number", { skip: noGetent }, async () => {
  const lines = `g:x:700:\nother:x:701:eve\nh:x:700:bob\n`;
  const found = await findGroupMembers(700, fakeNames(lines, ACCOUNTS), "linux");
  assert.deepEqual(found, { name: "g", others: ["bob"] });
});

/** The strangers in a group that lists nobody and has this in the place of its password. */
const othersBehind = async (password: string) =>
  (await findGroupMembers(700, fakeNames(`g:${password}:700:\n`, ACCOUNTS), "linux")).others;

test(
  "whoever knows the password of a group may be in it, and nobody does where there is none",
  { skip: noGetent },
  async () => {
    for (const password of ["$6$salt$hash", "ab01FAX.bQRSU"])
      assert.equal(await othersBehind(password), null);
    for (const password of ["", "x", "*", "!", "!!", "!$6$salt$hash"])
      assert.deepEqual(await othersBehind(password), []);
  },
);

test("where getent fails it is not known who is in a group", async () => {
  for (const run of [fakeNames(null, ACCOUNTS), fakeNames("g:x:700:\n", null)])
    assert.equal((await findGroupMembers(700, run, "linux")).others, null);
});
