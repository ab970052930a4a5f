import { createHmac, randomBytes } from "node:crypto";
import type { PlanDestination } from "../core/decide/settings.ts";
import type { HeaderIndex } from "../core/http/header-index.ts";
import { readReset } from "../core/limits/units.ts";
import type { Plan } from "../core/plans/plans.ts";

/** Enough to tell the accounts of a person apart, and no more. */
const HASH_CHARACTERS = 8;
/** A tool gets another login every few hours. */
const MOST_LOGINS = 64;
/** The shortest window of a plan. */
const UNKNOWN_RESET_MS = 5 * 3_600_000;
/** A client could send any number of accounts. Those after these have the name of the plan. */
const MOST_ACCOUNTS = 32;

/** A plan, with its account as its key where that is known. */
type NamedPlan = Pick<PlanDestination, "plan" | "key">;

/**
 * Names the accounts of plans, so that records and limits tell two accounts at one service apart: `plan:chatgpt/3f2a91c0`. The second part
 * is a hash with the salt of this installation. What a service calls an account is kept nowhere.
 */
export class PlanAccounts {
  readonly #readSalt: () => Buffer;
  #salt: Buffer | null = null;
  /** Of a login no more is kept than a hash with a salt of this process. */
  readonly #loginSalt = randomBytes(32);
  /** The accounts of logins that only a response names, by the logins' hashes. */
  readonly #byLogin = new Map<string, string>();

  readonly #names = new Set<string>();
  /** Until when accounts are expected to be charged for use beyond their plans; milliseconds since 1970. */
  readonly #extraUntil = new Map<string, number>();
  readonly #keys = new Set<string>();

  /** `readSalt` is called once, before the first name. */
  constructor(readSalt: () => Buffer) {
    this.#readSalt = readSalt;
  }

  /**
   * Returns a plan with the account that these headers of a request name as its key; as it is where that is not known yet. `now` in milliseconds
   * since 1970.
   */
  name(destination: PlanDestination, headers: HeaderIndex, now: number): PlanDestination {
    const { plan } = destination;
    const account = plan.findAccount(headers, null);
    const name = account === null ? this.#byLogin.get(this.#hashLogin(headers)) : this.#write(plan, account);
    if (name === undefined) return destination;
    return { ...destination, key: { name }, isExtra: this.isExtra(name, now) };
  }

  /** True while the service of an account is expected to charge for use beyond the plan: it did last, and the plan's window has not reset. */
  isExtra(account: string, now: number): boolean {
    return now < (this.#extraUntil.get(account) ?? 0);
  }

  /** Returns whether the service charges for a response as use beyond the plan, and expects the same of the account's next. */
  seeExtra(plan: Plan, account: string, response: HeaderIndex, now: number): boolean {
    const said = plan.findExtra(response);
    if (said === null) return this.isExtra(account, now);
    if (said.isCharged) this.#extraUntil.set(account, readReset(said.resets, now) ?? now + UNKNOWN_RESET_MS);
    else this.#extraUntil.delete(account);
    return said.isCharged;
  }

  /**
   * Returns the account that a response names; null where it names none, and where {@link name} knew it. The next request with the same login
   * has it. A login belongs to one account as long as it is valid, so this is learnt once: two hashes less for each
   * request.
   */
  learn({ plan, key }: NamedPlan, request: HeaderIndex, response: HeaderIndex): string | null {
    const account = key.name === plan.name ? plan.findAccount(request, response) : null;
    if (account === null) return null;
    const name = this.#write(plan, account);
    const login = this.#hashLogin(request);
    const [oldest] = this.#byLogin.keys();
    if (this.#byLogin.size >= MOST_LOGINS && oldest !== undefined) this.#byLogin.delete(oldest);
    this.#byLogin.set(login, name);
    return name;
  }

  /** Returns a name for the key that a tool sends of its own: a hash, as for an account. null where there are too many. */
  nameKey(key: string): string | null {
    this.#salt ??= this.#readSalt();
    const hash = createHmac("sha256", this.#salt).update(`own ${key}`).digest("hex");
    const name = hash.slice(0, HASH_CHARACTERS);
    if (!this.#keys.has(name) && this.#keys.size >= MOST_ACCOUNTS) return null;
    this.#keys.add(name);
    return name;
  }

  #write({ name }: Plan, account: string): string {
    this.#salt ??= this.#readSalt();
    const hash = createHmac("sha256", this.#salt).update(`${name} ${account}`).digest("hex");
    const written = `${name}/${hash.slice(0, HASH_CHARACTERS)}`;
    if (!this.#names.has(written) && this.#names.size >= MOST_ACCOUNTS) return name;
    this.#names.add(written);
    return written;
  }

  #hashLogin(headers: HeaderIndex): string {
    const login = headers.get("authorization") ?? "";
    return createHmac("sha256", this.#loginSalt).update(login).digest("base64");
  }
}
