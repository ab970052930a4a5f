import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { test } from "node:test";
import { socketFindings, unknownUsersFinding } from "../../../../src/cli/doctor/checks/other-users.ts";
import { listKernelSockets } from "../../../../src/adapters/socket-table.ts";
import { noOtherUser, NOBODY } from "../../../helpers/process/other-user.ts";

test(
  "connections of another user are reported with their count, except to other ports and from listed users",
  { skip: noOtherUser },
  async (t) => {
    const self = process.getuid?.() ?? 0;
    for (const address of ["127.0.0.1", "::1"]) {
      const server = createServer().listen(0, address);
      await once(server, "listening");
      const accepted: Socket[] = [];
      server.on("connection", (socket) => accepted.push(socket));
      t.after(() => {
        for (const socket of accepted) socket.destroy();
        server.close();
      });
      const { port } = server.address() as AddressInfo;
      const host = address.includes(":") ? `[${address}]` : address;
      for (const uid of [NOBODY, NOBODY, self]) {
        const come = once(server, "connection");
        const curl = spawn("curl", ["-s", `http://${host}:${port}/`], {
          uid,
          gid: uid,
          cwd: "/",
          stdio: "ignore",
        });
        t.after(() => curl.kill("SIGKILL"));
        await come;
      }
      assert.deepEqual(socketFindings(listKernelSockets(), port, self, [NOBODY + 1]), [
        {
          verdict: "warning",
          message: `user ${NOBODY} has 2 connections to port ${port}; their requests are refused`,
          fix: `sudo ss -tnp 'dport = :${port}'`,
        },
      ]);
      assert.deepEqual(socketFindings(listKernelSockets(), port + 1, self, []), []);
      assert.deepEqual(socketFindings(listKernelSockets(), port, self, [NOBODY]), []);
    }
  },
);

test("another user who listens on the port is a failure, even a user who may connect to it", () => {
  const socket = {
    localAddress: "0100007F",
    localPort: 8655,
    remotePort: 0,
    isRemoteLoopback: false,
    isListening: true,
    uid: 1001,
    inode: 7,
  };
  const [finding] = socketFindings([socket], 8655, 1000, [1001]);
  assert.deepEqual([finding?.verdict, finding?.message], ["failure", "user 1001 listens on port 8655"]);
  assert.deepEqual(socketFindings([socket], 8655, 1001, []), []);
  assert.deepEqual(socketFindings([{ ...socket, uid: 0 }], 8655, 1000, []), []);
});

test("a socket that no process holds any more is not reported, whatever its uid", () => {
  const socket = {
    localAddress: "0100007F",
    localPort: 40_000,
    remotePort: 8655,
    isRemoteLoopback: true,
    isListening: false,
    uid: 1001,
    inode: 0,
  };
  assert.deepEqual(socketFindings([socket], 8655, 1000, []), []);
});

test("where the system does not report socket owners, local tokens are suggested unless they are required already", () => {
  const { verdict, message } = unknownUsersFinding("open");
  assert.equal(verdict, "skipped");
  assert.match(message, /unless "access": "token" is set$/);
  assert.equal(unknownUsersFinding("token").verdict, "ok");
});
