import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { debianSuite } from "./requirements.ts";
import { SERVICE_USER } from "./service-user.ts";

/** What a desktop that runs the service has at least. curl, and perl, which is always present, are for the tests. */
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
 * Returns a Debian root file system of this machine's release, made with debootstrap and kept in the cache directory. The
 * first time takes a minute, 500 MB, and the mirror that this machine's apt uses.
 * @returns its directory, which must not be written to, or why there is none
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

/** Returns the mirror that apt uses, whatever the format of its lists. */
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

/** Adds a user with linger enabled, as by `loginctl enable-linger`: its systemd runs without a login. */
function addUser(directory: string): void {
  execFileSync("chroot", [directory, "useradd", "-m", "-u", String(SERVICE_USER.uid), SERVICE_USER.name]);
  mkdirSync(join(directory, "var/lib/systemd/linger"), { recursive: true });
  writeFileSync(join(directory, "var/lib/systemd/linger", SERVICE_USER.name), "");
  // debootstrap writes no entry for localhost.
  appendFileSync(join(directory, "etc/hosts"), "127.0.0.1 localhost\n::1 localhost\n");
}
