import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { test } from "node:test";
import { judgeSockets, judgeUntold } from "../../../src/cli/doctor/other-users.ts";
import { listKernelSockets } from "../../../src/cli/kernel-sockets.ts";
import { noOtherUser, NOBODY } from "../../helpers/process/other-user.ts";

test(
  "the connections of another user are told with their number, one's own, those to elsewhere and of who is listed are not",
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
      assert.deepEqual(judgeSockets(listKernelSockets(), port, self, [NOBODY + 1]), [
        {
          verdict: "warning",
          message: `user ${NOBODY} has 2 connections to port ${port}; their requests are refused`,
          fix: `sudo ss -tnp 'dport = :${port}'`,
        },
      ]);
      assert.deepEqual(judgeSockets(listKernelSockets(), port + 1, self, []), []);
      assert.deepEqual(judgeSockets(listKernelSockets(), port, self, [NOBODY]), []);
    }
  },
);

test("another user who listens on the port is a failure, even one that may connect to it", () => {
  const socket = {
    local: "0100007F:21CF",
    remote: "00000000:0000",
    localPort: 8655,
    remotePort: 0,
    isListening: true,
    uid: 1001,
    inode: "7",
  };
  const [finding] = judgeSockets([socket], 8655, 1000, [1001]);
  assert.deepEqual([finding?.verdict, finding?.message], ["failure", "user 1001 listens on port 8655"]);
  assert.deepEqual(judgeSockets([socket], 8655, 1001, []), []);
  assert.deepEqual(judgeSockets([{ ...socket, uid: 0 }], 8655, 1000, []), []);
});

test("what nobody holds any more is nobody's, though it stands as another's", () => {
  const socket = {
    local: "0100007F:9C40",
    remote: "0100007F:21CF",
    localPort: 40_000,
    remotePort: 8655,
    isListening: false,
    uid: 1001,
    inode: "0",
  };
  assert.deepEqual(judgeSockets([socket], 8655, 1000, []), []);
});

test("where the system does not tell users apart, a local token is named as what does", () => {
  const { verdict, message } = judgeUntold("open");
  assert.equal(verdict, "skipped");
  assert.match(message, /until "access": "token" asks for a local token$/);
  assert.equal(judgeUntold("token").verdict, "ok");
});
