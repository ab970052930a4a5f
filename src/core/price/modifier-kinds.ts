/** What a modifier depends on: the record's `service_tier` or `speed`, or the region that served. */
export type ModifierKind = "tier" | "speed" | "region";

/** What services report of a request at the list price. */
const STANDARD: Readonly<Record<ModifierKind, readonly string[]>> = {
  // `on_demand` is Groq's. `auto` is what services repeat that do not report which tier it was.
  tier: ["standard", "default", "auto", "on_demand"],
  speed: ["standard"],
  region: ["global", "not_available"],
};

/** True for a tier, speed or region, as a service reports it or a body asks for it, that is not served at the list price. */
export function isSpecial(kind: ModifierKind, value: string | null): value is string {
  return value !== null && value !== "" && !STANDARD[kind].includes(value);
}
