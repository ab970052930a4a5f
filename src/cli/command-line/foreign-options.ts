import { NAME } from "../../core/config/names.ts";
import { formatCommand } from "../../core/text/shell-words.ts";

/** What to type in place of an option. `value` is what was given to it, `tool` the tool that the command line names, or a usual one. */
type Advice = (value: string | undefined, tool: string) => string;

/** Returns the advice for an option whose value one of our commands takes; `usual` stands for a value that it cannot take. */
function withValue(why: string, words: readonly string[], fits: RegExp, usual: string): Advice {
  return (value) => {
    const given = value !== undefined && fits.test(value) ? value : usual;
    return `${why}, type: ${formatCommand(["tollkeeper", ...words.map((word) => word.replace("VALUE", given))])}`;
  };
}

const NUMBER = /^\d+$/;
const ANYTHING = /^[^-]/;

const PORT = withValue("to set the port", ["config", "set", "listen.port", "VALUE"], NUMBER, "8700");
const DAYS = withValue("for the last days", ["usage", "--since", "VALUEd"], NUMBER, "7");
const UPSTREAM = withValue(
  "connect points a tool at tollkeeper; to set the API behind it",
  ["config", "set", "upstreams.default.baseUrl", "VALUE"],
  /^https?:\/\/(?!127\.|localhost|\[::1\])/,
  "https://api.openai.com/v1",
);
const FIXES: Advice = () =>
  "nothing is changed for you; for the command that fixes each problem, type: tollkeeper doctor";
const BACKGROUND: Advice = () =>
  "to run it in the background, type: tollkeeper service install; or where there is no service manager: nohup tollkeeper serve --log-file ~/tollkeeper.log >/dev/null 2>&1 &";
const NO_END: Advice = (_, tool) =>
  `a pause has no end of its own; to begin one, type: tollkeeper pause ${tool}; to end it, type: tollkeeper resume ${tool}`;
const BY_PIPE: Advice = () =>
  "no key is given as an argument, because every program can read those; to pipe one in, add: --key-stdin";

/** What to type in place of options that people expect from other programs: by command, the options and the advice. */
const INSTEAD: Readonly<Record<string, readonly (readonly [options: RegExp, advice: Advice])[]>> = {
  serve: [
    [/^--port$/, PORT],
    [/^(?:--background|--daemon|--daemonize|--detach|--detached|-d|-D)$/, BACKGROUND],
  ],
  setup: [
    [/^--port$/, PORT],
    [/^--(?:api-?)?key$|^--token$/, BY_PIPE],
  ],
  "key set": [
    [
      /^--(?:key-)?stdin$/,
      () => "a key is piped in without an option, for example: pass show api-key | tollkeeper key set",
    ],
  ],
  connect: [
    [/^--port$/, PORT],
    [/^--(?:base-?)?url$|^--upstream$/i, UPSTREAM],
  ],
  dashboard: [[/^--port$|^-p$/, PORT]],
  status: [[/^--port$|^-p$/, PORT]],
  pause: [[/^--(?:for|until|minutes|hours|duration)$/, NO_END]],
  check: [[/^--(?:fix|repair)$/, FIXES]],
  doctor: [[/^--(?:fix|repair|yes)$|^-y$/, FIXES]],
  top: [
    [/^--tool$/, withValue("for the requests of one tool", ["tail", "--tool", "VALUE"], NAME, "codex")],
    [/^--(?:since|by|until)$/, withValue("for the past", ["usage", "--since", "VALUE"], ANYTHING, "today")],
  ],
  usage: [
    [/^--(?:days|last)$/, DAYS],
    [/^--from$/, withValue("for a period", ["usage", "--since", "VALUE"], ANYTHING, "7d")],
    [/^--to$/, withValue("for a period", ["usage", "--since", "30d", "--until", "VALUE"], ANYTHING, "today")],
    [/^--(?:today|day|daily)$/, () => "for today, type: tollkeeper usage --since today"],
  ],
  tail: [[/^--(?:last|limit|count)$/, withValue("for the newest", ["tail", "-n", "VALUE"], NUMBER, "20")]],
  "budget set": [
    [
      /^--(?:limit|amount|cost|max|dollars)$/,
      (value, tool) =>
        `for a limit in dollars, type: tollkeeper budget set ${tool} --usd ${value !== undefined && /^\d+(?:\.\d+)?$/.test(value) ? value : "20"} --per day`,
    ],
  ],
};

/** Returns what to type in place of the first option of a command line that the command does not have, and other programs do; else null. */
export function findInstead(path: string, words: readonly string[]): string | null {
  for (const [index, word] of words.entries()) {
    const [option = "", given = words[index + 1]] = word.split("=");
    const [, advice] = (INSTEAD[path] ?? []).find(([options]) => options.test(option)) ?? [];
    if (advice !== undefined) return advice(given, toolIn(words[path.split(" ").length]));
  }
  return null;
}

/** Returns a word that may be the name of a tool; of any other word, that of a tool that people have. */
export function toolIn(word = ""): string {
  return NAME.test(word) ? word : "codex";
}
