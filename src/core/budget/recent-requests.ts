import type { BudgetTerms } from "./kinds.ts";
import type { SizeBound } from "./estimate.ts";
import type { Spent } from "./spent.ts";

/** How many requests of a tool are remembered, and how many it takes to tell what is usual. */
const REMEMBERED = 32;
const ENOUGH = 8;

/** How many tools are remembered: names of tools may be clients' own. The one that was idle the longest is forgotten first. */
const MAX_TOOLS = 200;

/** Shares are whole numbers of thousandths, rounded up. */
const WHOLE = 1_000n;

/** What a tool's requests usually spend of what their size allows, in thousandths. */
interface UsualShares {
  input: bigint;
  output: bigint;
}

/** All that their size allows: where nothing is known. */
export const ALL: UsualShares = { input: WHOLE, output: WHOLE };

/** A request that has ended. */
interface Ended {
  /** What its size allowed. */
  bound: SizeBound;
  /** What it spent; null if that is not known, so that it may have been all. */
  spent: Spent["known"] | null;
}

/** The latest requests of a tool. */
interface Recent {
  requests: Ended[];
  /** What is usual, by what is counted, as far as it has been asked for. */
  usual: Map<string, UsualShares>;
}

/**
 * What the latest requests of each tool spent of what their size allowed: of their input, because much of it is cached, and of their
 * output, because few need all that they ask for. Shares and not amounts, so that small requests do not vouch for large ones.
 */
export class RecentRequests {
  /** The tool that was used last is the last one. */
  readonly #tools = new Map<string, Recent>();

  add(tool: string, ended: Ended): void {
    const recent: Recent = this.#tools.get(tool) ?? { requests: [], usual: new Map() };
    this.#tools.delete(tool);
    this.#tools.set(tool, recent);
    recent.requests.push(ended);
    if (recent.requests.length > REMEMBERED) recent.requests.shift();
    recent.usual.clear();
    const [idle] = this.#tools.keys();
    if (this.#tools.size > MAX_TOOLS && idle !== undefined) this.#tools.delete(idle);
  }

  /** Returns the shares that nine of ten requests of a tool did not exceed, in the unit of a budget; all if too few are known. */
  usual(tool: string, { limit }: Pick<BudgetTerms, "limit">): UsualShares {
    const recent = this.#tools.get(tool);
    if (recent === undefined || recent.requests.length < ENOUGH) return ALL;
    const unit = "usd" in limit ? "usd" : (limit.class ?? "all");
    let usual = recent.usual.get(unit);
    if (usual === undefined) {
      const shares = recent.requests.map((one) => sharesOf(one, unit));
      usual = {
        input: ninthDecile(shares.map(({ input }) => input)),
        output: ninthDecile(shares.map(({ output }) => output)),
      };
      recent.usual.set(unit, usual);
    }
    return usual;
  }
}

type Unit = "usd" | keyof Spent["known"]["tokens"];

function sharesOf({ bound, spent }: Ended, unit: Unit): UsualShares {
  if (spent === null) return ALL;
  const { tokens } = spent;
  const output = share(BigInt(tokens.output), BigInt(bound.output.tokens.output));
  if (unit === "usd") {
    // What the output cost is not known by itself. It has the price by which it was reserved for.
    const ofOutput =
      (bound.output.usd * BigInt(tokens.output)) / atLeastOne(BigInt(bound.output.tokens.output));
    return { input: share(spent.usd - ofOutput, bound.input.usd), output };
  }
  const input = unit === "all" ? tokens.all - tokens.output : tokens[unit];
  return { input: share(BigInt(input), BigInt(bound.input.tokens[unit])), output };
}

/** Returns the share that a part is of a whole, between 0 and all. */
function share(part: bigint, whole: bigint): bigint {
  if (part <= 0n) return 0n;
  return part >= whole ? WHOLE : (part * WHOLE + whole - 1n) / whole;
}

/** Returns the part of an amount that a share is, rounded up. */
export function partOf(amount: bigint, ofThousand: bigint): bigint {
  return (amount * ofThousand + WHOLE - 1n) / WHOLE;
}

function atLeastOne(amount: bigint): bigint {
  return amount > 0n ? amount : 1n;
}

function ninthDecile(shares: bigint[]): bigint {
  shares.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return shares[Math.ceil(shares.length * 0.9) - 1] ?? WHOLE;
}
