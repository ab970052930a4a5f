import type { Evidence } from "../evidence.ts";
import { failure, ok, skipped, warning, type Check } from "../../../check/check.ts";

const TLS_SWITCH = "NODE_TLS_REJECT_UNAUTHORIZED";

/** Checks for settings of Node that would expose a key or leave certificates unverified; see `hardenProcess`. */
export const nodeCheck: Check<Evidence> = {
  id: "node",
  title: "Node's settings",
  async run(evidence) {
    const { refusal, warnings } = await evidence.hardening();
    if (refusal !== null) {
      const fix = refusal.hint ?? "unset NODE_OPTIONS NODE_DEBUG";
      const message = `${refusal.message}; the daemon refuses to start with this setting`;
      return [failure(message, fix), skipped("no key is read until this is fixed")];
    }
    const findings = warnings.map((text) => warning(text, fixOf(text)));
    return findings.length > 0 ? findings : [ok("none of them exposes a key")];
  },
};

/** Each warning begins with the setting it is about. */
function fixOf(text: string): string {
  return text.startsWith(TLS_SWITCH) ? `unset ${TLS_SWITCH}` : "ulimit -c 0";
}
