/**
 * The process in which keytar runs, one call long. keytar may crash (SIGSEGV), hang in a prompt for ever, and hold up
 * `process.exit()` while it does (facts/platform.md 1.4); here it can do all that without harm to the daemon.
 */
import { createRequire } from "node:module";
import { MAX_KEY_LENGTH } from "../../core/secrets/key-value.ts";
import { messageOf } from "../../core/thrown.ts";
import { SERVICE } from "./protocol.ts";
import type { KeytarReply, KeytarRequest } from "./protocol.ts";

// A listener that stays keeps this process alive until the parent, which has read the answer, ends it.
process.on("message", (request: KeytarRequest) => {
  void answer(request).then((reply) => process.send?.(reply));
});

// The parent is gone. `process.exit()` would wait for a hanging call; a signal does not.
process.once("disconnect", () => process.kill(process.pid, "SIGKILL"));

async function answer(request: KeytarRequest): Promise<KeytarReply> {
  try {
    return { ok: true, value: await perform(request) };
  } catch (error) {
    return { ok: false, message: messageOf(error) };
  }
}

async function perform(request: KeytarRequest): Promise<string | boolean | null> {
  const keytar = await loadKeytar();
  switch (request.call) {
    case "get": {
      const value = await keytar.getPassword(SERVICE, request.account);
      // An item may hold any number of megabytes; one character too many is enough to be refused by.
      return value?.slice(0, MAX_KEY_LENGTH + 1) ?? null;
    }
    case "set":
      await keytar.setPassword(SERVICE, request.account, request.value);
      return true;
    case "delete":
      return keytar.deletePassword(SERVICE, request.account);
  }
}

async function loadKeytar(): Promise<typeof import("keytar")> {
  try {
    return (await import("keytar")).default;
  } catch (error) {
    throw reasonOfLoadFailure() ?? error;
  }
}

/** keytar's loader swallows the reason (`catch {}` in lib/keytar.js); loading the binary directly tells it. */
function reasonOfLoadFailure(): unknown {
  try {
    createRequire(import.meta.url)(`keytar/prebuilds/${process.platform}-${process.arch}/keytar.node`);
    return null;
  } catch (error) {
    return error;
  }
}
