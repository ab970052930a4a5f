import assert from "node:assert/strict";
import { test } from "node:test";
import { nameProcess } from "../../../src/core/identity/process-name.ts";
import { PROCESS_SIGNATURES } from "../../../src/tools/all.ts";

const program = (executable: string) => ({ executable, script: null });

test("a program that carries the connections of others names no tool, and neither does what started it", () => {
  for (const relay of [
    "ssh",
    "sshd",
    "docker-proxy",
    "rootlessport",
    "pasta.avx2",
    "com.docker.backend",
    "wslrelay.exe",
  ]) {
    for (const parent of ["/usr/bin/claude", "/usr/share/code/code", "/bin/bash"]) {
      const programs = [program(`/usr/bin/${relay}`), program(parent)];
      assert.equal(nameProcess(programs, PROCESS_SIGNATURES), null, `${relay} of ${parent}`);
    }
  }
  const name = nameProcess([program("/usr/bin/sshfs"), program("/usr/bin/claude")], PROCESS_SIGNATURES);
  assert.equal(name?.tool, "claude-code", "a similar name is no relay");
});
