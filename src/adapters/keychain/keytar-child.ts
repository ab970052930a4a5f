/**
 * The child process that makes one keytar call. keytar can crash (SIGSEGV), or hang in a prompt and then block
 * `process.exit()` (docs/platform.md section 1). In a process of its own, neither harms the daemon.
 */
import { createRequire } from "node:module";
import { MAX_KEY_LENGTH } from "../../core/secrets/api-key.ts";
import { messageOf } from "../../core/failure.ts";
import { SERVICE } from "./protocol.ts";
import type { KeytarReply, KeytarRequest, KeytarValue } from "./protocol.ts";

// The listener keeps this process alive until the parent has read the reply and kills it.
process.on("message", (request: KeytarRequest) => {
  void handle(request).then((reply) => process.send?.(reply));
});

// The parent has died. `process.exit()` would wait for a hanging call; a signal does not.
process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));

async function handle(request: KeytarRequest): Promise<KeytarReply> {
  try {
    return { ok: true, value: await perform(request) };
  } catch (error) {
    return { ok: false, message: messageOf(error) };
  }
}

async function perform(request: KeytarRequest): Promise<KeytarValue> {
  const keytar = await loadKeytar();
  switch (request.call) {
    case "get": {
      const value = await keytar.getPassword(SERVICE, request.account);
      // An item can have many megabytes. One character too many is enough for the parent to refuse it.
      return value?.slice(0, MAX_KEY_LENGTH + 1) ?? null;
    }
    case "set":
      await keytar.setPassword(SERVICE, request.account, request.value);
      return true;
    case "delete":
      return keytar.deletePassword(SERVICE, request.account);
    case "list":
      // keytar has no call without the passwords. They end with this process.
      return (await keytar.findCredentials(SERVICE)).map(({ account }) => account);
  }
}

async function loadKeytar(): Promise<typeof import("keytar")> {
  try {
    return (await import("keytar")).default;
  } catch (error) {
    throw findLoadError() ?? error;
  }
}

/** keytar's loader swallows the error (`catch {}` in lib/keytar.js). Loading the binary directly reveals it. */
function findLoadError(): unknown {
  try {
    createRequire(import.meta.url)(`keytar/prebuilds/${process.platform}-${process.arch}/keytar.node`);
    return null;
  } catch (error) {
    return error;
  }
}
