import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { findSystemTool, runSystemTool, type RunSystemTool } from "../programs/run-system-tool.ts";
import { isInSandbox } from "../user-namespace.ts";

/** Who is in a group besides this user and root. */
interface GroupMembers {
  /** Its name, or its number where it has no known name. */
  name: string;
  /** Names of the others; null when the system does not tell. */
  others: readonly string[] | null;
}

/** An account or a group, as the system lists them. */
interface Listed {
  name: string;
  id: number;
}

interface Account extends Listed {
  /** Its primary group. */
  gid: number;
}

/** What the system tells of one group. */
interface GroupFacts {
  name: string;
  /** The names that the group lists. Accounts whose primary group it is are usually not among them. */
  listed: readonly string[];
  accounts: readonly Account[];
  /** True when `accounts` are all that there are. */
  isComplete: boolean;
}

/** How long an answer holds. A daemon reads its configuration, and runs a key command, again and again. */
const ANSWER_MS = 60_000;

/** Sources of nsswitch.conf(5) that list all of their accounts. A directory service may list none: sssd does not by default. */
const LISTING_SOURCES = new Set(["files", "compat", "db", "systemd", "altfiles", "mymachines", "extrausers"]);

/** The group `admin` of macOS. */
const MAC_ADMIN = 80;

const answers = new Map<number, { askedAt: number; answer: Promise<GroupMembers> }>();

/** Asks the system who is in a group. It takes a few milliseconds, and is asked once a minute. Never rejects. */
export function askGroupMembers(gid: number): Promise<GroupMembers> {
  const now = performance.now();
  const known = answers.get(gid);
  if (known !== undefined && now - known.askedAt < ANSWER_MS) return known.answer;
  const answer = findGroupMembers(gid, runSystemTool, process.platform);
  answers.set(gid, { askedAt: now, answer });
  return answer;
}

/** As {@link askGroupMembers}, without a memory. */
export async function findGroupMembers(
  gid: number,
  run: RunSystemTool,
  platform: NodeJS.Platform,
): Promise<GroupMembers> {
  const unknown = { name: String(gid), others: null };
  // Its members administer the machine, and can become root. Homebrew's directories are theirs.
  if (platform === "darwin" && gid === MAC_ADMIN) return { name: "admin", others: [] };
  // There, every group but our own has the same number.
  if (isInSandbox() && gid !== process.getgid?.()) return unknown;
  const facts = await (platform === "darwin" ? askDirectoryService(gid, run) : askNameService(gid, run));
  if (facts === null) return unknown;
  const { name, listed, accounts, isComplete } = facts;
  const own = ownAccount();
  // Of an incomplete list, the least: a group of our own name that is our primary one is private by the convention of
  // useradd(8), which pam_umask(8) relies on when it sets the umask 002.
  const isOurs = own !== null && own.gid === gid && own.name === name;
  if (!isComplete && !isOurs) return { name, others: null };
  const trusted = new Set(["root", ...(own === null ? [] : [own.name])]);
  for (const account of accounts) if (account.id === 0 || account.id === own?.id) trusted.add(account.name);
  const primary = accounts.filter((account) => account.gid === gid).map((account) => account.name);
  return { name, others: [...new Set([...listed, ...primary])].filter((member) => !trusted.has(member)) };
}

function ownAccount(): Account | null {
  try {
    const { username: name, uid: id, gid } = userInfo();
    return { name, id, gid };
  } catch {
    // A user without an account, as in a container.
    return null;
  }
}

/** getent(1): `name:password:gid:member,member` and `name:password:uid:gid:...`. */
async function askNameService(gid: number, run: RunSystemTool): Promise<GroupFacts | null> {
  const getent = findSystemTool("getent");
  if (getent === null) return null;
  const [group, passwd] = await Promise.all([run(getent, ["group", String(gid)]), run(getent, ["passwd"])]);
  if (group === null || passwd === null) return null;
  const [name = "", , , members = ""] = group.trimEnd().split(":");
  const accounts = passwd.split("\n").map((line): Account => {
    const [account = "", , id, primary] = line.split(":");
    return { name: account, id: Number(id), gid: Number(primary) };
  });
  const listed = members.split(",").filter((member) => member !== "");
  return { name, listed, accounts, isComplete: listsAllAccounts() };
}

function listsAllAccounts(): boolean {
  try {
    const text = readFileSync("/etc/nsswitch.conf", "utf8");
    const line = /^\s*passwd:([^#\n]*)/m.exec(text)?.[1] ?? "files";
    // `[SUCCESS=merge]` and the like say what follows on an answer.
    const sources = line.replaceAll(/\[[^\]]*\]/g, " ").split(/\s+/);
    return sources.every((source) => source === "" || LISTING_SOURCES.has(source));
  } catch {
    // Without the file, and in musl always, the accounts are those of /etc/passwd.
    return true;
  }
}

const DSCL = "/usr/bin/dscl";

/** dscl(1) on macOS, whose `-list` prints a name and a value a line. A group within the group may have any members. */
async function askDirectoryService(gid: number, run: RunSystemTool): Promise<GroupFacts | null> {
  const list = (kind: string, key: string) => run(DSCL, ["/Search", "-list", kind, key]);
  const [groups, ids, gids] = await Promise.all([
    list("/Groups", "PrimaryGroupID"),
    list("/Users", "UniqueID"),
    list("/Users", "PrimaryGroupID"),
  ]);
  if (groups === null || ids === null || gids === null) return null;
  const name = parseList(groups).find(({ id }) => id === gid)?.name;
  if (name === undefined) return null;
  const record = await run(DSCL, ["/Search", "-read", `/Groups/${name}`, "GroupMembership", "NestedGroups"]);
  if (record === null) return null;
  const primary = new Map(parseList(gids).map((account) => [account.name, account.id]));
  const accounts = parseList(ids).map((account) => ({ ...account, gid: primary.get(account.name) ?? -1 }));
  const listed = /^GroupMembership:(.*(?:\n .*)*)/m.exec(record)?.[1]?.split(/\s+/) ?? [];
  return {
    name,
    listed: listed.filter((member) => member !== ""),
    accounts,
    isComplete: !/^NestedGroups: *\S/m.test(record),
  };
}

function parseList(text: string): Listed[] {
  return text.split("\n").flatMap((line) => {
    const [, name, id] = /^(\S+)\s+(-?\d+)\s*$/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, id: Number(id) }];
  });
}
