import type { Mutant } from "./mutant.ts";

const A13 = { row: "A13", test: "test/security/a13-unix-socket.test.ts" };
const A14 = { row: "A14", test: "test/security/a14-pages-through-bridge.test.ts" };
const A15 = { row: "A15", test: "test/security/a15-bridge.test.ts" };

const DIRECTORY = "src/adapters/unix-socket/guarded-directory.ts";
const EXPOSURE = "src/adapters/trust/exposure.ts";
const BRIDGE = "src/cli/bridge/run-bridge.ts";

/** Rules about the Unix socket and the bridge: A13 to A15. */
export const REMOTE: readonly Mutant[] = [
  {
    ...A13,
    without: "refusing a directory that others can enter",
    file: DIRECTORY,
    find: "if ((found.mode & OPEN_TO_OTHERS) !== 0)",
    replace: "if (found.mode === 0)",
  },
  {
    ...A13,
    without: "checking the directory itself: links are followed",
    file: DIRECTORY,
    find: "import { lstatSync, mkdirSync,",
    replace: "import { statSync as lstatSync, mkdirSync,",
  },
  {
    ...A13,
    without: "refusing another user's directory",
    file: DIRECTORY,
    find: "if (!found.isDirectory() || !isOwn(found)) {",
    replace: "if (!found.isDirectory()) {",
  },
  {
    ...A13,
    without: "refusing a directory that all may exchange",
    file: EXPOSURE,
    find: "if (!isOpenTo(step, WRITABLE_BY_ALL, trusted)) return null;",
    replace: "return null;",
  },
  {
    ...A13,
    without: "refusing a directory that one other user may exchange",
    file: EXPOSURE,
    find: "if (uid === 0 || uid === process.geteuid?.() ||",
    replace: "if (uid !== -1 ||",
  },
  {
    ...A13,
    without: "following the links that lead to the directory",
    file: DIRECTORY,
    find: "await refuseExposed(directory,",
    replace: "await refuseExposed(real,",
  },
  {
    ...A13,
    without: "refusing a directory with other files of ours",
    file: DIRECTORY,
    find: "if (ours.some((other) => `${realOrSame(other)}/`.startsWith(`${real}/`))) {",
    replace: "if (ours.length === 0) {",
  },
  {
    ...A13,
    without: "refusing a directory above one with other files of ours",
    file: DIRECTORY,
    find: "`${realOrSame(other)}/`.startsWith(`${real}/`)",
    replace: "real === realOrSame(other)",
  },
  {
    ...A13,
    without: "a private mode for the directory",
    file: DIRECTORY,
    find: "mkdirSync(directory, { recursive: true, mode: 0o700 });",
    replace: "mkdirSync(directory, { recursive: true, mode: 0o755 });",
  },
  {
    ...A13,
    without: "a private mode for the socket",
    file: "src/adapters/unix-socket/listen.ts",
    find: "process.umask(0o177)",
    replace: "process.umask(0o000)",
  },
  {
    ...A13,
    without: "keeping a file that is no socket",
    file: "src/adapters/unix-socket/listen.ts",
    find: "refuseOtherFile(place);",
    replace: "",
  },
  {
    ...A14,
    without: "judging the name in Host on the socket",
    file: "src/core/http/admission.ts",
    find: "localPort === null ? portOfLoopback(host) !== null :",
    replace: "localPort === null ? true :",
  },
  {
    ...A14,
    without: "comparing the whole name on the socket",
    file: "src/core/http/admission.ts",
    find: "host === own || host.startsWith(`${own}:`)",
    replace: "host.startsWith(own)",
  },
  {
    ...A14,
    without: "comparing a Referer with the Host on the socket",
    file: "src/core/http/admission.ts",
    find: "const own = port === null ? [] :",
    replace: "const own = port !== null ? [referer] :",
  },
  {
    ...A14,
    without: "a session for feeds on the socket",
    file: "src/proxy/client/peer.ts",
    find: "this.isOwn = owner.uid !== null && owner.uid === ownUid;",
    replace: "this.isOwn = owner === BEYOND_SOCKET || (owner.uid !== null && owner.uid === ownUid);",
  },
  {
    ...A15,
    without: "listening on loopback alone",
    file: "src/cli/bridge/listen-on-loopback.ts",
    find: '["127.0.0.1", "::1"] as const',
    replace: '["0.0.0.0", "::1"] as const',
  },
  {
    ...A15,
    without: "refusing other users",
    file: BRIDGE,
    find: "uid !== null && uid !== this.#ownUid && uid !== ROOT_UID",
    replace: "uid === -1",
  },
  {
    ...A15,
    without: "a limit to its connections",
    file: BRIDGE,
    find: "if (this.#clients.size >= this.#most) {",
    replace: "if (this.#clients.size < 0) {",
  },
];
