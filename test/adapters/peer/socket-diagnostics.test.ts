import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { test } from "node:test";
import { promisify } from "node:util";
import { fileURLToPath } from "node:url";
import { SocketDiagnostics } from "../../../src/adapters/peer/socket-diagnostics.ts";
import { WITH_BLOCKING_DIAGNOSTICS, WITH_DIAGNOSTICS } from "../../helpers/process/diagnostics-socket.ts";
import { diagnosticsMissing } from "../../helpers/process/diagnostics-missing.ts";
import type { Findings } from "./diagnostics-probe.ts";

const PROBE = fileURLToPath(new URL("diagnostics-probe.ts", import.meta.url));
const OWN_UID = process.getuid?.();
const OWN = { uid: OWN_UID, isClients: true };
const skip = diagnosticsMissing();
const noRoot = skip !== false ? skip : OWN_UID !== 0 && "needs root: connects as another user";

async function probe(command: readonly string[]): Promise<Findings> {
  const [file, ...words] = [...command, process.execPath, "--import", "tsx", PROBE];
  const { stdout } = await promisify(execFile)(file, words, { timeout: 300_000 });
  return JSON.parse(stdout) as Findings;
}

const findings = skip === false ? await probe(WITH_DIAGNOSTICS) : {};

test("finds the netlink socket among those that systemd passes", { skip }, () => {
  assert.equal(findings["isHandedOver"], true);
});

for (const [name, what] of [
  ["v4", "an IPv4 connection"],
  ["v6", "an IPv6 connection"],
  ["serverOfBothFamilies", "an IPv4 connection to a socket of both families"],
  ["clientOfBothFamilies", "an IPv4 connection from a socket of both families"],
] as const)
  test(`finds the user and the socket of the client of ${what}`, { skip }, () => {
    assert.deepEqual(findings[name], OWN);
  });

test("finds the user of another user's connection", { skip: noRoot }, () => {
  assert.deepEqual(findings["otherUser"], { uid: 65_533, isClients: true });
});

test("finds that no process holds the socket of a client that has closed it", { skip }, () => {
  assert.equal(findings["ended"], -1);
});

test("leaves a connection that the kernel does not know to the tables", { skip }, () => {
  assert.equal(findings["reset"], null);
});

test("does not take a socket that listens on the client's port for the client's", { skip }, () => {
  assert.equal(findings["listening"], null);
});

test("does not take an answer that an earlier daemon left unread for its own", { skip }, () => {
  assert.equal(findings["afterOldAnswers"], true);
});

test(
  "stops asking a kernel that has failed three times to find our own end of a connection",
  { skip },
  () => {
    assert.deepEqual([findings["afterTwoUnknown"], findings["afterThreeUnknown"]], [true, false]);
  },
);

test("does not believe a socket to which our own end is another user's", { skip: noRoot }, () => {
  assert.equal(findings["asOther"], null);
});

test("a lookup asks it, and reads no table", { skip }, () => {
  assert.deepEqual([findings["lookedUp"], findings["tablesRead"]], [OWN_UID, 0]);
});

test("does not use a socket on which a read may block, and reads the tables instead", { skip }, async () => {
  const { isHandedOver, v4, lookedUp, tablesRead } = await probe(WITH_BLOCKING_DIAGNOSTICS);
  assert.deepEqual([isHandedOver, v4, lookedUp, tablesRead], [true, { isClients: false }, OWN_UID, 1]);
});

test("a descriptor that is closed, or of no netlink socket, answers nothing", (t) => {
  const file = openSync("/dev/null", constants.O_RDWR | constants.O_NONBLOCK);
  t.after(() => closeSync(file));
  const ends = [
    { address: "127.0.0.1", port: 1 },
    { address: "127.0.0.1", port: 2 },
  ] as const;
  for (const fd of [1_000_000, file]) assert.equal(new SocketDiagnostics(fd).ownerOf(...ends), null);
});
