import { failure, ok, skipped, warning, type Check } from "./finding.ts";

const TLS_SWITCH = "NODE_TLS_REJECT_UNAUTHORIZED";

/** Settings of Node's under which it would give a key away, or leave certificates unverified; see `hardenProcess`. */
export const nodeCheck: Check = {
  id: "node",
  title: "Node's settings",
  look(evidence) {
    const { refusal, warnings } = evidence.process();
    if (refusal !== null) {
      const fix = refusal.hint ?? "unset NODE_OPTIONS NODE_DEBUG";
      return Promise.resolve([
        failure(`${refusal.message}; the daemon would not start like this`, fix),
        skipped("no key is read here until then"),
      ]);
    }
    const findings = warnings.map((text) => warning(text, fixOf(text)));
    return Promise.resolve(findings.length > 0 ? findings : [ok("none of them gives a key away")]);
  },
};

/** Each warning begins with what it is about. */
function fixOf(text: string): string {
  return text.startsWith(TLS_SWITCH) ? `unset ${TLS_SWITCH}` : "ulimit -c 0";
}
