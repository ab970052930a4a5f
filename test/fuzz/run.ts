// `npm run fuzz -- [--seconds N] [--seed N] [NAME...]`: checks all properties, or those whose names begin with NAME, in rounds of
// one batch each until the time is over. Fails when a property did not hold.
import { parseArgs } from "node:util";
import { ALL_PROPERTIES } from "./all.ts";
import { newSeed, type Property } from "./property.ts";

const { values, positionals } = parseArgs({
  options: { seconds: { type: "string", default: "60" }, seed: { type: "string" } },
  allowPositionals: true,
});
const seconds = wholeNumber("--seconds", values.seconds);
const firstSeed = values.seed === undefined ? newSeed() : wholeNumber("--seed", values.seed);

function wholeNumber(option: string, text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text);
  throw new Error(`${option} takes a whole number`);
}

/** The result of one property so far. */
interface Tally {
  property: Property;
  cases: number;
  /** The first counterexample. The property is not checked again, because more would mostly be the same one. */
  finding: string | null;
}

function chooseProperties(): Property[] {
  return ALL_PROPERTIES.filter(({ name, missing }) => {
    if (positionals.length > 0 && !positionals.some((start) => name.startsWith(start))) return false;
    if (missing !== null) console.log(`SKIPPED: ${name}: ${missing}`);
    return missing === null;
  });
}

/** Checks every property once per round. The first round is always complete. */
async function tryAll(tallies: readonly Tally[]): Promise<void> {
  const end = performance.now() + seconds * 1000;
  const hasTime = (seed: number) => seed === firstSeed || performance.now() < end;
  for (let seed = firstSeed; hasTime(seed); seed += 1) {
    const left = tallies.filter(({ finding }) => finding === null);
    if (left.length === 0) return;
    for (const tally of left) if (hasTime(seed)) await tryOnce(tally, seed);
  }
}

async function tryOnce(tally: Tally, seed: number): Promise<void> {
  const { cases, finding } = await tally.property.runBatch(seed);
  tally.cases += cases;
  tally.finding = finding;
  if (finding !== null) console.log(`FOUND: ${finding}\n`);
}

const tallies = chooseProperties().map((property): Tally => ({ property, cases: 0, finding: null }));
console.log(`${tallies.length} properties, ${seconds} s, seed ${firstSeed}`);
await tryAll(tallies);
for (const { property, cases, finding } of tallies) {
  console.log(
    `${String(cases).padStart(9)} cases  ${finding === null ? "held " : "BROKE"}  ${property.name}`,
  );
}
process.exitCode = tallies.length > 0 && tallies.every(({ finding }) => finding === null) ? 0 : 1;
