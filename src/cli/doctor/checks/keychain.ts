import type { Evidence } from "../evidence.ts";
import { failure, ok, skipped, warning, type Check } from "../../../check/check.ts";

/** Checks that keys can be read from the keychain and stored in it. */
export const keychainCheck: Check<Evidence> = {
  id: "keychain",
  title: "keychain",
  async run(evidence) {
    const { refusal } = await evidence.hardening();
    if (refusal !== null) return [skipped('not checked: see "Node\'s settings"')];
    const config = await evidence.config();
    if (config === null) return [skipped("not checked: the configuration is invalid")];
    const upstreams = Object.values(config.upstreams);
    const isNeeded = upstreams.some(({ keySource }) => keySource.kind === "keychain");
    if (upstreams.length > 0 && !isNeeded) return [skipped("not checked: every key has another source")];
    const problem = await evidence.keychainFailure();
    if (problem === null) return [ok("the keychain responds and is unlocked")];
    const [what, fix] = [problem.messageForOwner, problem.hint ?? "tollkeeper key set"];
    return [isNeeded ? failure(what, fix) : warning(`${what}; no key is needed from it yet`, fix)];
  },
};
