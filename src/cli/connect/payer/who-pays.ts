import type { Config } from "../../../core/config/config.ts";
import { resolveKeyRef } from "../../../core/policy/configured-keys.ts";
import { keyNameOfTool, upstreamsForTool } from "../../../core/policy/tool-access.ts";
import type { Account, ConnectableTool, Scope } from "../../../tools/tool.ts";
import type { LoginObstacle } from "./login-obstacles.ts";

/** When something is said: of a dry run, before the change is made, or while it holds. */
export type Tense = "would" | "will" | "does";

/** Returns a verb in a tense: `would pay`, `will pay`, or its present form as given: `pays`. */
export function inTense(tense: Tense, infinitive: string, present: string): string {
  return tense === "does" ? present : `${tense} ${infinitive}`;
}

/** What decides who pays for what a tool asks through tollkeeper. */
export interface Payment {
  tool: Pick<ConnectableTool, "title">;
  account: Account;
  /** Whether the tool has a saved login. */
  isSignedIn: boolean;
  /** The names of the keys that may pay; none where no upstream takes a key. */
  keys: readonly string[];
  /** What the tool sends in place of the plan's login. None where a key pays. */
  obstacles: readonly LoginObstacle[];
}

/** Returns the names of the keys with which requests of a tool may be paid. */
export function keysOf(config: Config, tool: string): string[] {
  const refs = upstreamsForTool(config, tool).map((one) => resolveKeyRef(one, keyNameOfTool(config, tool)));
  return [...new Set(refs.filter(({ source }) => source.kind !== "none").map(({ name }) => name))];
}

/** Says who pays, in sentences. None where {@link warnOfObstacles} says it: something takes the place of the plan's login. */
export function sayWhoPays(payment: Payment, tense: Tense): string[] {
  if (payment.account === "key") return [sayKeyPays(payment, tense)];
  if (payment.obstacles.length > 0) return [];
  if (payment.isSignedIn) return [`The ${planPays(payment, tense)}`];
  const works = inTense(tense, "not work", "does not work");
  return [
    `${payment.tool.title} is not signed in, so it ${works} until you sign in. After that the ${planPays(payment, tense)}`,
  ];
}

function sayKeyPays({ tool: { title }, isSignedIn, keys }: Payment, tense: Tense): string {
  const doesNotUse = inTense(tense, "not use", "does not use");
  const pays = inTense(tense, "pay", "pays");
  if (keys.length === 0) {
    const login = isSignedIn ? "its saved login either" : "a login either, even if you sign in later";
    return `No key ${pays}, because no upstream takes one. ${title} ${doesNotUse} ${login}.`;
  }
  return isSignedIn
    ? `Your API key ${pays}: ${title} ${doesNotUse} its saved login.`
    : `Your API key ${pays}. If you sign in to ${title} later, your key ${inTense(tense, "still pay", "still pays")}.`;
}

/** Returns the sentence after its first word, which is "the". */
function planPays({ isSignedIn, tool: { title } }: Payment, tense: Tense): string {
  const plan = isSignedIn ? `plan that ${title} is signed in with` : "plan that you sign in with";
  return `${plan} ${inTense(tense, "pay", "pays")}, and no key ${inTense(tense, "be used", "is used")}.`;
}

/** Warns of what the tool sends in place of the plan's login, and says who pays once that is removed. */
export function warnOfObstacles(payment: Payment, tense: Tense): string[] {
  const { obstacles, isSignedIn, tool } = payment;
  if (obstacles.length === 0) return [];
  const works = inTense(tense, "not work", "does not work");
  const pays = inTense(tense, "pay", "pays");
  return [
    ...obstacles.map(
      ({ what, remedy }) =>
        `warning: ${what}. ${tool.title} ${works}, and neither a key nor the plan ${pays}.\n  ${remedy}`,
    ),
    `  Once that is done${isSignedIn ? "" : ", and you have signed in"}, the ${planPays(payment, tense)}`,
  ];
}

/** Says how to have the other account pay for a connected tool; nothing of a tool that has no other. */
export function sayHowToChange(
  { name, savedLogin }: Pick<ConnectableTool, "name" | "savedLogin">,
  scope: Scope,
  account: Account,
): string[] {
  if (savedLogin === undefined) return [];
  const [other, payer] = account === "key" ? ["plan", "its plan"] : ["key", "your API key"];
  const option = scope === "user" ? "" : ` --scope ${scope}`;
  return [`To have ${payer} pay instead, type: tollkeeper connect ${name}${option} --account ${other}`];
}
