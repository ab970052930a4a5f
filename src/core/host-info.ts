import { Failure } from "./failure.ts";

/** What decides where programs keep their files on this machine. */
export interface HostInfo {
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
  /** Home directory, absolute, without a slash at the end. */
  home: string;
}

/** Returns the failure for a user without a home directory, as in a container that runs with an arbitrary user id. */
export function unknownHome(uid: number | undefined, cause: unknown): Failure {
  const who = uid === undefined ? "this user" : `user id ${uid}`;
  return new Failure(
    `the home directory is unknown: HOME is not set, and ${who} is not in the user database`,
    "name a directory of yours with: export HOME=/path/to/home",
    { cause },
  );
}
