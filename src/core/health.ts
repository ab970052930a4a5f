/** Whether the daemon can serve: `ok`, or what keeps it from that. */
export type Health = "ok" | "starting" | "stopping" | "configuration" | "keys" | "tokens" | "ledger";

/** What health is judged by; a part of the daemon's status. */
interface HealthFacts {
  state: "serving" | "stopping";
  config: { problems: readonly unknown[] };
  /** `state` is `present`, `not_asked` or a failure code. */
  keys: readonly { state: string }[];
  access: { mode: "open" | "token"; tokens: { problem: unknown } };
  ledger: { waiting: number };
}

/** Judges by everything that a request needs. Lost records do not count: they do not affect new requests. */
export function judgeHealth({ state, config, keys, access, ledger }: HealthFacts): Health {
  if (state === "stopping") return "stopping";
  if (config.problems.length > 0) return "configuration";
  if (keys.some((key) => key.state !== "present" && key.state !== "not_asked")) return "keys";
  if (access.mode === "token" && access.tokens.problem !== null) return "tokens";
  return ledger.waiting > 0 ? "ledger" : "ok";
}
