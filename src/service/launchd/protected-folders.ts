import type { PathProbes } from "../stable-paths.ts";

/**
 * Folders of the home directory that macOS opens to a program only after asking the user on the screen (Transparency,
 * Consent and Control). A service started by launchd does not inherit the permission of a terminal, and is refused without a
 * prompt: "Operation not permitted" (reports on macOS 10.15 to 26).
 */
const PROTECTED = ["Documents", "Desktop", "Downloads", "Library/Mobile Documents", "Library/CloudStorage"];

/** External and network volumes, which are protected in the same way. */
const VOLUME = /^\/Volumes\/[^/]+(?=\/)/;

/** A file that the daemon needs and that macOS may keep from it. */
interface ProtectedFile {
  path: string;
  /** The protected folder, with `~` for the home directory. */
  folder: string;
}

/** Returns those of the files that lie in a protected folder, or are links into one. */
export function findProtectedFiles(
  paths: readonly string[],
  { realpath, home }: PathProbes,
): ProtectedFile[] {
  return paths.flatMap((path) => {
    const folder = protectedFolderOf(path, home) ?? protectedFolderOf(realpath(path) ?? path, home);
    return folder === null ? [] : [{ path, folder }];
  });
}

/** The file systems of macOS usually ignore case. */
function protectedFolderOf(path: string, home: string): string | null {
  const inHome = PROTECTED.find((folder) =>
    `${path}/`.toLowerCase().startsWith(`${home}/${folder}/`.toLowerCase()),
  );
  return inHome === undefined ? (VOLUME.exec(path)?.[0] ?? null) : `~/${inHome}`;
}
