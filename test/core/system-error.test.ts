import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure, hasCode, messageOf } from "../../src/core/failure.ts";
import { about, findFix, reasonOf, type PathProbes } from "../../src/core/system-error.ts";

interface Fields {
  syscall?: string;
  path?: string;
  dest?: string;
  address?: string;
  port?: number;
}

function systemError(code: string, fields: Fields): Error {
  return Object.assign(new Error(`${code}: words, ${fields.syscall}`), { code, errno: -1, ...fields });
}

const probes: PathProbes = {
  open: () => null,
  unlock: () => null,
  inspect: (path) => `inspect ${path}`,
  list: (path) => `list ${path}`,
  showMount: (path) => `mount ${path}`,
  showSpace: (path) => `space ${path}`,
};

test("an error of the system says what could not be done to which file, and why", () => {
  const denied = systemError("EACCES", { syscall: "open", path: "/a" });
  assert.equal(messageOf(denied), "cannot open /a: permission denied");
  assert.equal(reasonOf(denied), "permission denied");
});

test("what could not be replaced is named by the name that it was to get", () => {
  const busy = systemError("EBUSY", { syscall: "rename", path: "/a.new", dest: "/a" });
  assert.equal(messageOf(busy), "cannot replace /a: it is in use, or mounted");
  assert.equal(findFix(busy, probes), "to see what is mounted there, type: mount /a");
});

test("the address that cannot be listened on is named", () => {
  const low = systemError("EACCES", { syscall: "listen", address: "::1", port: 80 });
  assert.equal(messageOf(low), "cannot listen on [::1]:80: only root may listen on such a low port");
  assert.match(findFix(low, probes) ?? "", /tollkeeper config set listen\.port 8655$/);
});

test("an error of a call on an open file gets the name of the file", () => {
  const full = systemError("ENOSPC", { syscall: "write" });
  const write = () => {
    throw full;
  };
  assert.throws(() => about("/a", write), { message: full.message });
  assert.equal(messageOf(full), "cannot write /a: the disk is full");
});

test("a used-up quota is known by its number, because libuv has no name for it", () => {
  const quota = systemError("Unknown system error -122", { syscall: "write", path: "/a" });
  assert.ok(hasCode(quota, "EDQUOT"));
  assert.equal(messageOf(quota), "cannot write /a: your disk quota is used up");
});

test("what to type about the cause of a failure is what to type about the failure", () => {
  const failure = new Failure("cannot keep it", undefined, {
    cause: systemError("ENOSPC", { syscall: "write", path: "/a" }),
  });
  assert.match(findFix(failure, probes) ?? "", /space \/a$/);
});

test("permissions are mended before they are inspected, and the attribute of a locked file before them", () => {
  const denied = systemError("EPERM", { syscall: "open", path: "/a" });
  assert.equal(findFix(denied, { ...probes, open: () => "chmod", unlock: () => "chattr" }), "chattr");
  assert.equal(findFix(denied, { ...probes, open: () => "chmod" }), "chmod");
  assert.equal(findFix(denied, probes), "inspect it with: inspect /a");
});

test("an error with a code that is not known, and one that is not of the system, keep their messages", () => {
  assert.equal(messageOf(systemError("EWEIRD", { syscall: "open" })), "EWEIRD: words, open");
  assert.equal(messageOf(Object.assign(new Error("no"), { code: "ENOENT" })), "no");
  assert.equal(findFix(new Error("no"), probes), null);
});
