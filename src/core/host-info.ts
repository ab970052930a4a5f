/** What decides where programs keep their files on this machine. */
export interface HostInfo {
  platform: NodeJS.Platform;
  env: NodeJS.ProcessEnv;
  /** Home directory, absolute, without a slash at the end. */
  home: string;
}
