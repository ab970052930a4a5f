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
  /** True when nobody can be in the group but those of `listed` and `accounts`. */
  isComplete: boolean;
  /** True when whoever knows its password can enter it. */
  hasPassword: boolean;
}

/** How long an answer holds. A daemon reads its configuration, and runs a key command, again and again. */
const ANSWER_MS = 60_000;

/** Sources of nsswitch.conf(5) that list all of their accounts and groups. A directory service may list none: sssd does not by default. */
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
  const { name, listed, accounts, isComplete, hasPassword } = facts;
  const own = ownAccount();
  // Of an incomplete list, the least: a group of our own name that is our primary one is private by the convention of
  // useradd(8), which pam_umask(8) relies on when it sets the umask 002.
  const isOurs = own !== null && own.gid === gid && own.name === name;
  if (hasPassword || (!isComplete && !isOurs)) return { name, others: null };
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

/** An entry of a group, as getent(1) prints it: `name:password:gid:member,member`. */
interface GroupEntry extends Listed {
  password: string;
  members: readonly string[];
}

/**
 * getent(1) prints for a number the first entry that has it. initgroups(3) goes through all of them, and through all sources, so
 * all are listed. An account is `name:password:uid:gid:...`.
 */
async function askNameService(gid: number, run: RunSystemTool): Promise<GroupFacts | null> {
  const getent = findSystemTool("getent");
  if (getent === null) return null;
  const [first, all, passwd] = await Promise.all([
    run(getent, ["group", String(gid)]),
    run(getent, ["group"]),
    run(getent, ["passwd"]),
  ]);
  if (first === null || all === null || passwd === null) return null;
  const [named = null] = parseGroups(first);
  const entries = [named, ...parseGroups(all)].filter((entry) => entry?.id === gid);
  const accounts = passwd.split("\n").map((line): Account => {
    const [account = "", , id, primary] = line.split(":");
    return { name: account, id: Number(id), gid: Number(primary) };
  });
  return {
    name: named?.name ?? String(gid),
    listed: entries.flatMap((entry) => entry?.members ?? []),
    accounts,
    isComplete: listsAll(["passwd", "group", "initgroups"]),
    hasPassword: entries.some((entry) => entry !== null && !NO_PASSWORD.test(entry.password)),
  };
}

function parseGroups(text: string): GroupEntry[] {
  return text.split("\n").flatMap((line) => {
    const [name = "", password = "", id = "", members = ""] = line.trimEnd().split(":");
    if (id === "") return [];
    return [
      { name, password, id: Number(id), members: members.split(",").filter((member) => member !== "") },
    ];
  });
}

/** newgrp(1) lets nobody in who is no member. `x` says that only root sees whether there is one. */
const NO_PASSWORD = /^(?:|x|[!*].*)$/;

/** True when every source of these databases lists all that it has. */
function listsAll(databases: readonly string[]): boolean {
  try {
    const text = readFileSync("/etc/nsswitch.conf", "utf8");
    return databases.every((database) => {
      const line = new RegExp(String.raw`^\s*${database}:([^#\n]*)`, "m").exec(text)?.[1] ?? "files";
      // `[SUCCESS=merge]` and the like say what follows on an answer.
      const sources = line.replaceAll(/\[[^\]]*\]/g, " ").split(/\s+/);
      return sources.every((source) => source === "" || LISTING_SOURCES.has(source));
    });
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
  const names = parseList(groups).flatMap((group) => (group.id === gid ? [group.name] : []));
  const [name] = names;
  if (name === undefined) return null;
  const records = await Promise.all(
    names.map((one) => run(DSCL, ["/Search", "-read", `/Groups/${one}`, "GroupMembership", "NestedGroups"])),
  );
  const primary = new Map(parseList(gids).map((account) => [account.name, account.id]));
  const accounts = parseList(ids).map((account) => ({ ...account, gid: primary.get(account.name) ?? -1 }));
  const listed = records.flatMap(
    (record) => /^GroupMembership:(.*(?:\n .*)*)/m.exec(record ?? "")?.[1]?.split(/\s+/) ?? [],
  );
  return {
    name,
    listed: listed.filter((member) => member !== ""),
    accounts,
    hasPassword: false,
    isComplete: records.every((record) => record !== null && !/^NestedGroups: *\S/m.test(record)),
  };
}

function parseList(text: string): Listed[] {
  return text.split("\n").flatMap((line) => {
    const [, name, id] = /^(\S+)\s+(-?\d+)\s*$/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, id: Number(id) }];
  });
}
