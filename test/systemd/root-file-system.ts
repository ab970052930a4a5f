import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { debianSuite } from "./needs.ts";
import { USER } from "./user.ts";

/** What a desktop that runs the service has, and no more; curl and perl (which is always there) are for the tests. */
const PACKAGES = [
  "systemd",
  "systemd-sysv",
  "dbus",
  "dbus-user-session",
  "libpam-systemd",
  "libsecret-1-0",
  "gnome-keyring",
  "libsecret-tools",
  "iproute2",
  "procps",
  "ca-certificates",
  "curl",
];

const LIMIT_MS = 15 * 60_000;

/**
 * A Debian of this machine's own release, made with debootstrap and kept in the cache directory: the first time takes a
 * minute, 500 MB, and the mirror that this machine's apt uses.
 * @returns its directory, never to be written to; or why there is none
 */
export function rootFileSystem(): { directory: string } | { missing: string } {
  const suite = debianSuite() ?? "";
  const key = createHash("sha256").update(PACKAGES.join(" ")).digest("hex").slice(0, 12);
  const directory = join(cacheDirectory(), `${suite}-${key}`);
  if (existsSync(directory)) return { directory };
  const mirror = mirrorOf(suite);
  if (mirror === null) return { missing: "apt knows no mirror that a root file system could be made from" };
  console.log(`making a root file system in ${directory}: about a minute, once`);
  const unfinished = `${directory}.${process.pid}`;
  try {
    bootstrap(suite, mirror, unfinished);
    addUser(unfinished);
    if (!existsSync(directory)) renameSync(unfinished, directory);
    return { directory };
  } catch (error) {
    return { missing: `debootstrap failed: ${String(error)}` };
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

function cacheDirectory(): string {
  const base = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const directory = join(base, "tollkeeper-test-systemd");
  mkdirSync(directory, { recursive: true });
  return directory;
}

/** As apt itself is set up, whatever format its lists are in. */
function mirrorOf(suite: string): string | null {
  const filter = ["Created-By: Packages", `Codename: ${suite}`];
  const { stdout } = spawnSync("apt-get", ["indextargets", "--format", "$(REPO_URI)", ...filter], {
    encoding: "utf8",
  });
  return stdout.split("\n").find((line) => line !== "") ?? null;
}

function bootstrap(suite: string, mirror: string, directory: string): void {
  const options = ["--variant=minbase", `--include=${PACKAGES.join(",")}`];
  execFileSync("debootstrap", [...options, suite, directory, mirror], {
    stdio: ["ignore", "ignore", "inherit"],
    timeout: LIMIT_MS,
  });
}

/** A user who is let linger, as `loginctl enable-linger` leaves it: its manager runs without a login. */
function addUser(directory: string): void {
  execFileSync("chroot", [directory, "useradd", "-m", "-u", String(USER.uid), USER.name]);
  mkdirSync(join(directory, "var/lib/systemd/linger"), { recursive: true });
  writeFileSync(join(directory, "var/lib/systemd/linger", USER.name), "");
  // debootstrap leaves it without a line for localhost.
  appendFileSync(join(directory, "etc/hosts"), "127.0.0.1 localhost\n::1 localhost\n");
}
