const NO_KEY_IS_SHOWN =
  "no command shows a key; to see which keys are stored, type: tollkeeper key list; to test one, type: tollkeeper key test";
const NO_TOKEN_IS_SHOWN =
  "only a token's hash is stored; to make a new one, type: tollkeeper token add TOOL; to see which there are, type: tollkeeper token list";
const PRICES =
  'to set a price of your own, add it to "prices" with: tollkeeper config edit; to see its form, type: tollkeeper config explain prices';

/** What to type in place of commands that people expect from other programs. TOOL stands for the word after the command. */
export const MEANT: Readonly<Record<string, string>> = {
  start:
    "to start the background service, type: tollkeeper service start; or to run in this terminal, type: tollkeeper serve",
  stop: "to stop tollkeeper, type: tollkeeper service stop",
  restart: "to restart the background service, type: tollkeeper service restart",
  logs: "to see the log of the background service, type: tollkeeper service logs",
  log: "to see the log of the background service, type: tollkeeper service logs",
  daemon: "to run in this terminal, type: tollkeeper serve",
  up: "to start the background service, type: tollkeeper service start",
  down: "to stop tollkeeper, type: tollkeeper service stop",
  install:
    "to set up everything, type: tollkeeper setup; or for the service alone, type: tollkeeper service install",
  init: "to set up everything, type: tollkeeper setup",
  login: "to store an API key, type: tollkeeper key set",
  logout: "to remove a stored API key, type: tollkeeper key remove",
  auth: "to store an API key, type: tollkeeper key set",
  prune: "to delete old records, type: tollkeeper ledger prune --before 2026-01",
  import: "to import past usage from tools' own logs, type: tollkeeper ledger import",
  verify: "to verify the records, type: tollkeeper ledger verify",
  cost: "to see what each tool has cost, type: tollkeeper usage",
  costs: "to see what each tool has cost, type: tollkeeper usage",
  stats: "to see how much each tool used, type: tollkeeper usage",
  report: "to see how much each tool used, type: tollkeeper usage",
  limit: "to set a limit, type: tollkeeper budget set --help",
  list: "to see the supported tools, type: tollkeeper connect --list",
  tools: "to see the supported tools, type: tollkeeper connect --list",
  ps: "to see what is running, type: tollkeeper top",
  watch:
    "to see each request as it ends, type: tollkeeper tail; or for the whole screen, type: tollkeeper top",
  ui: "to open the page, type: tollkeeper dashboard",
  web: "to open the page, type: tollkeeper dashboard",
  unpause: "to end a pause, type: tollkeeper resume TOOL",
  "group add":
    "to put a tool into a group, type: tollkeeper group use TOOL GROUP; to make a group, type: tollkeeper group set GROUP",
  "key show": NO_KEY_IS_SHOWN,
  "key get": NO_KEY_IS_SHOWN,
  "key print": NO_KEY_IS_SHOWN,
  "key reveal": NO_KEY_IS_SHOWN,
  "token show": NO_TOKEN_IS_SHOWN,
  "token get": NO_TOKEN_IS_SHOWN,
  "prices set": PRICES,
  "prices add": PRICES,
  "prices update": "to use a newer table of prices, type: tollkeeper prices import --help",
  update: "to update, type in the clone: git pull && npm ci; then type: tollkeeper service install",
  upgrade: "to update, type in the clone: git pull && npm ci; then type: tollkeeper service install",
};

/** Subcommands that other programs have, and ours that do the same: the first that the command has is meant. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  add: ["set"],
  create: ["set", "add"],
  new: ["set", "add"],
  delete: ["remove", "revoke", "unset"],
  rm: ["remove", "revoke", "unset"],
  unset: ["remove"],
  ls: ["list"],
  show: ["list", "get"],
};

/** Returns the subcommand that does what a word of another program stands for; undefined when there is none. */
export function findSynonym(word: string, subcommands: readonly string[]): string | undefined {
  const ours = Object.hasOwn(SYNONYMS, word) ? SYNONYMS[word] : undefined;
  return ours?.find((name) => subcommands.includes(name));
}
