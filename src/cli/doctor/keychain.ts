import { failure, ok, skipped, warning, type Check } from "./finding.ts";

/** Can keys be read from the keychain, and stored in it? */
export const keychainCheck: Check = {
  id: "keychain",
  title: "keychain",
  async look(evidence) {
    const { refusal } = evidence.process();
    if (refusal !== null) return [skipped("not asked; see Node's settings")];
    const config = await evidence.config();
    if (config === null) return [skipped("not asked; the configuration is not good")];
    const upstreams = Object.values(config.upstreams);
    const isNeeded = upstreams.some(({ keySource }) => keySource.kind === "keychain");
    if (upstreams.length > 0 && !isNeeded) return [skipped("not asked; every key is kept elsewhere")];
    const trouble = await evidence.keychain();
    if (trouble === null) return [ok("it answers, and is open")];
    const [what, fix] = [trouble.messageForOwner, trouble.hint ?? "tollkeeper key set"];
    return [isNeeded ? failure(what, fix) : warning(`${what}; no key is looked for in it yet`, fix)];
  },
};
