import { sanitizeText } from "../../../core/config/problem.ts";
import { Failure } from "../../../core/failure.ts";
import { describeTerms, type BrakeTerms } from "../../../core/policy/brake.ts";
import { formatCommand } from "../../../core/text/shell-words.ts";
import type { Answers } from "../../../daemon/control/answer-shapes.ts";
import { askRunning } from "../../../daemon/running-daemon.ts";
import { attempt } from "../../attempt.ts";
import { findOwner, requireOwner, type Owner } from "../../budget/owner.ts";
import type { Argv } from "../../command-line.ts";
import { reportOptions, type Command, type ReportArguments } from "../../command.ts";
import { makeChange, planChanges, removeValue } from "../../config/change-value.ts";
import { TEMPLATE } from "../../config/edit-file.ts";
import { newToolOption } from "../../known-tools.ts";
import { commandAbout, loadConfig, readIfValid, resolveConfigPath } from "../../load-config.ts";
import { noteOtherConfig } from "../../note-other-config.ts";
import { hasColours, print, printJson, printStyled } from "../../terminal/console.ts";
import { WrongUsage } from "../../wrong-usage.ts";
import { formatBrakes } from "./format-rules.ts";

const GENTLE = "gentle";

/** `tollkeeper brake`: lists the brakes of tools and groups, and changes them. */
export const command: Command<ReportArguments> = {
  builder: (yargs) =>
    reportOptions(yargs)
      .command("list", "List the brakes of tools and groups", reportOptions, list)
      .command(
        "set [tool] [limits]",
        "Limit which requests a tool, or the tools of a group together, may send",
        setOptions,
        (args) => set(resolveConfigPath(args.config), args),
      )
      .command("remove [tool]", "Remove a brake", ownerOptions, (args) =>
        remove(resolveConfigPath(args.config), args),
      ),
  handler: list,
};

function ownerOptions(yargs: Argv<object>) {
  return yargs
    .option("config", { type: "string" })
    .positional("tool", { type: "string", describe: "Tool that the brake is for" })
    .option("group", { type: "string", describe: "Group that the brake is for" });
}

function setOptions(yargs: Argv<object>) {
  return newToolOption(ownerOptions(yargs))
    .positional("limits", {
      type: "string",
      describe: `"${GENTLE}": limits that stop a loop, but that no person reaches`,
    })
    .option("requests-per-minute", {
      type: "string",
      describe: "Requests allowed at once, and then per minute",
    })
    .option("concurrent", { type: "string", describe: "Requests that may run at the same time" })
    .option("same", { type: "string", describe: "How often the same request may be sent; needs --within" })
    .option("within", { type: "string", describe: "Number of minutes for --same" })
    .option("keep", {
      type: "string",
      describe: "Percent of each window of the service's limits to leave to others",
    });
}

interface SetArguments {
  tool?: string | undefined;
  group?: string | undefined;
  new: boolean;
  limits?: string | undefined;
  requestsPerMinute?: string | undefined;
  concurrent?: string | undefined;
  same?: string | undefined;
  within?: string | undefined;
  keep?: string | undefined;
}

async function list({ config: file, json }: ReportArguments): Promise<void> {
  const { tools, groups } = await loadConfig(file);
  await noteOtherConfig(file);
  const found = Object.entries({ tool: tools, group: groups }).flatMap(([kind, named]) =>
    Object.entries(named).flatMap(([name, { brake }]) => (brake === null ? [] : [{ kind, name, ...brake }])),
  );
  if (json) return printJson(found);
  if (found.length === 0)
    print("There is no brake. To set one, type for example:\n  tollkeeper brake set codex gentle");
  else await printBrakes(found);
}

/** A brake with whom it is for. */
type NamedBrake = BrakeTerms & { kind: string; name: string };

async function printBrakes(brakes: readonly NamedBrake[]): Promise<void> {
  const { value: limits } = await attempt(Failure, () => askRunning("limits"));
  // A daemon of an earlier version sends none.
  const { holds = [] }: Partial<Answers["limits"]> = limits ?? {};
  const view = { width: process.stdout.columns || Infinity, isColoured: hasColours() };
  printStyled(formatBrakes(brakes, holds, Date.now(), view));
}

async function set(file: string, given: SetArguments): Promise<void> {
  // With --group there is no tool, and the first argument is the limits.
  const args =
    given.group !== undefined && given.limits === undefined
      ? { ...given, tool: undefined, limits: given.tool }
      : given;
  refuseAll(args.tool);
  const brake = readLimits(args);
  const owner = await requireOwner(args, await readIfValid(file));
  const change = await planChanges(file, [[[...owner.path, "brake"], brake]], TEMPLATE);
  const [section, name = ""] = owner.path;
  const terms = (section === "tools" ? change.config.tools : change.config.groups)[name]?.brake;
  if (!terms) throw new Error("the brake that was written is in the configuration");
  const undo = commandAbout(file, ["brake", "remove", ...owner.words]);
  await makeChange(
    file,
    change,
    `The brake of ${nameOf(owner)} allows ${describeTerms(terms)}, set in ${file}\nTo remove it, type: ${undo}`,
  );
}

/** Returns the brake as the configuration file has it. */
function readLimits(args: SetArguments): unknown {
  const { limits, requestsPerMinute, concurrent, same, within, keep } = args;
  if ((same === undefined) !== (within === undefined))
    throw new WrongUsage("--same and --within belong together", "type for example: --same 12 --within 10");
  const brake = {
    ...(requestsPerMinute !== undefined && {
      requestsPerMinute: readCount("--requests-per-minute", requestsPerMinute, 120),
    }),
    ...(concurrent !== undefined && { concurrent: readCount("--concurrent", concurrent, 16) }),
    ...(same !== undefined &&
      within !== undefined && {
        same: { times: readCount("--same", same, 12), minutes: readCount("--within", within, 10) },
      }),
    ...(keep !== undefined && { keep: readCount("--keep", keep.replace(/ ?%$/, ""), 10) }),
  };
  const isEmpty = Object.keys(brake).length === 0;
  if (limits !== undefined && limits !== GENTLE) throw unknownLimits(limits, args);
  if ((limits === undefined) === isEmpty)
    throw new WrongUsage(
      isEmpty ? "the limits are missing" : `"${GENTLE}" and limits of your own cannot be used together`,
      `type for example: tollkeeper brake set codex ${GENTLE}; or: tollkeeper brake set codex --requests-per-minute 60 --concurrent 4`,
    );
  return isEmpty ? limits : brake;
}

/** What people call a number of requests in a minute: `10`, `10/min`, `10rpm`. */
const RATE = /^(\d{1,9})(?: ?(?:\/|per ?)? ?(?:m|min|minute|rpm))?$/i;

function unknownLimits(limits: string, { tool, group }: SetArguments): WrongUsage {
  const [, count = "60"] = RATE.exec(limits) ?? [];
  const owner = group === undefined ? [tool ?? "codex"] : ["--group", group];
  const typed = formatCommand(["tollkeeper", "brake", "set", ...owner]);
  return new WrongUsage(
    `there is no preset "${sanitizeText(limits)}"; the only one is "${GENTLE}"`,
    `to choose your own limit, type: ${typed} --requests-per-minute ${count}; or type: ${typed} ${GENTLE}`,
  );
}

function readCount(option: string, text: string, example: number): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new WrongUsage(
    `${option} "${sanitizeText(text)}" is not a whole number`,
    `type for example: ${option} ${example}`,
  );
}

async function remove(
  file: string,
  args: { tool?: string | undefined; group?: string | undefined },
): Promise<void> {
  refuseAll(args.tool);
  const owner = findOwner(args, await readIfValid(file));
  const whose = nameOf(owner);
  await removeValue(file, [...owner.path, "brake"], {
    what: `a brake for ${whose}`,
    done: `The brake of ${whose} is removed from ${file}`,
    look: `to see all brakes, type: ${commandAbout(file, ["brake"])}`,
  });
}

function refuseAll(tool: string | undefined): void {
  if (tool === "all")
    throw new WrongUsage(
      "a brake is for one tool or one group",
      "for the tools of a group together, add: --group GROUP",
    );
}

function nameOf({ path: [section, name] }: Owner): string {
  return `${section === "tools" ? "tool" : "group"} ${name}`;
}
