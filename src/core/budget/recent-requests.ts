import type { BudgetTerms } from "./kinds.ts";
import type { SizeBound } from "./estimate.ts";
import type { Spent } from "./spent.ts";

/** How many requests of a tool are remembered, and how many it takes to tell what is usual. */
const REMEMBERED = 32;
const ENOUGH = 8;

/** How many tools are remembered: names of tools may be clients' own. The one that was idle the longest is forgotten first. */
const MAX_TOOLS = 200;

/** Shares are whole numbers of thousandths, rounded up. */
const WHOLE = 1_000;

/** What a tool's requests usually spend of what their size allows, in thousandths. */
interface UsualShares {
  input: number;
  output: number;
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

/** A request that has ended, and its shares by what is counted, as far as they have been asked for. */
interface Remembered extends Ended {
  shares: Map<Unit, UsualShares>;
}

/** The latest requests of a tool. */
interface Recent {
  requests: Remembered[];
  /** What is usual, by what is counted, as far as it has been asked for. */
  usual: Map<Unit, UsualShares>;
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
    recent.requests.push({ bound: ended.bound, spent: ended.spent, shares: new Map() });
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
      usual = ninthDecile(recent.requests.map((one) => recallShares(one, unit)));
      recent.usual.set(unit, usual);
    }
    return usual;
  }
}

type Unit = "usd" | keyof Spent["known"]["tokens"];

function recallShares(one: Remembered, unit: Unit): UsualShares {
  let shares = one.shares.get(unit);
  if (shares === undefined) one.shares.set(unit, (shares = sharesOf(one, unit)));
  return shares;
}

function sharesOf({ bound, spent }: Ended, unit: Unit): UsualShares {
  if (spent === null) return ALL;
  const { tokens } = spent;
  const generated = bound.output.tokens.output;
  const output = shareOf(tokens.output, generated);
  if (unit === "usd") {
    // What the output cost is not known by itself. It has the price by which it was reserved for.
    const ofOutput = (bound.output.usd * BigInt(tokens.output)) / BigInt(Math.max(1, generated));
    const [part, whole] = [spent.usd - ofOutput, bound.input.usd];
    if (part <= 0n) return { input: 0, output };
    return { input: part >= whole ? WHOLE : Number((part * BigInt(WHOLE) + whole - 1n) / whole), output };
  }
  const input = unit === "all" ? tokens.all - tokens.output : tokens[unit];
  return { input: shareOf(input, bound.input.tokens[unit]), output };
}

/** Returns the share that a count is of another one, between 0 and all. */
function shareOf(part: number, whole: number): number {
  if (part <= 0) return 0;
  return part >= whole ? WHOLE : Math.ceil((part * WHOLE) / whole);
}

/** Returns the part of an amount that a share is, rounded up. */
export function partOf(amount: bigint, share: number): bigint {
  return share === WHOLE ? amount : (amount * BigInt(share) + BigInt(WHOLE - 1)) / BigInt(WHOLE);
}

/** As {@link partOf}, of a number of tokens. */
export function tokensOf(count: number, share: number): number {
  return Math.ceil((count * share) / WHOLE);
}

function ninthDecile(shares: readonly UsualShares[]): UsualShares {
  const inputs = new Uint16Array(shares.length);
  const outputs = new Uint16Array(shares.length);
  for (const [i, { input, output }] of shares.entries()) {
    inputs[i] = input;
    outputs[i] = output;
  }
  const at = Math.ceil(shares.length * 0.9) - 1;
  return { input: inputs.sort()[at] ?? WHOLE, output: outputs.sort()[at] ?? WHOLE };
}
