import type { Mutant } from "./mutant.ts";

const E1 = { row: "E1", test: "test/faults/e1-record-before-last-byte.test.ts" };
const E1_KILL = { row: "E1", test: "test/faults/kill-under-load.test.ts" };
const E2 = { row: "E2", test: "test/faults/e2-disk-refuses.test.ts" };
const E2_MOVE = { row: "E2", test: "test/adapters/ledger-file/move.test.ts" };
const E4_MOVE = { row: "E4", test: "test/adapters/ledger-file/move.test.ts" };
const E4_ADDRESS = { row: "E4", test: "test/daemon/one-daemon-everywhere.test.ts" };
const E4_ADVICE = { row: "E4", test: "test/core/foreign-file.test.ts" };
const E4 = { row: "E4", test: "test/faults/e4-planted-files.test.ts" };

const WRITER = "src/adapters/ledger-file/line-writer.ts";
const LOG_OUTPUT = "src/adapters/log/line-output.ts";
const DAY_FILE = "src/adapters/ledger-file/day-file.ts";
const OWN_FILE = "src/adapters/ledger-file/private-file.ts";

/** Rules on files: E1, E2 and E4. */
export const DISK: readonly Mutant[] = [
  {
    ...E1,
    without: "writing the record before the end of the response",
    file: "src/proxy/exchange/download.ts",
    find: "this.#options.exchange.recordResponse(read, cutBy, () => onRecorded(isReallyWhole));",
    replace:
      "onRecorded(isReallyWhole);\n      this.#options.exchange.recordResponse(read, cutBy, () => {});",
  },
  {
    ...E1,
    without: "writing the records of a batch before the ends of their responses",
    file: "src/proxy/exchange/record-batch.ts",
    find: "this.#ledger.append(records);\n    for (const onWritten of callbacks) onWritten();",
    replace: "for (const onWritten of callbacks) onWritten();\n    this.#ledger.append(records);",
  },
  {
    ...E1,
    without: "writing the records of one turn together",
    file: "src/proxy/exchange/exchange.ts",
    find: "running.size > 1, () => {",
    replace: "false, () => {",
  },
  {
    row: "E1",
    test: "test/proxy/client/connections.test.ts",
    without: "ending responses that wait for their records before a drain",
    file: "src/proxy/gate.ts",
    find: "this.#endRecorded();\n    await this.#connections.drain();",
    replace: "await this.#connections.drain();",
  },
  {
    ...E1,
    without: "holding back the chunk that completes the announced length",
    file: "src/proxy/exchange/streaming-writer.ts",
    find: "this.bytes >= this.#announcedBytes",
    replace: "this.bytes > this.#announcedBytes",
  },
  {
    ...E1,
    without: "distinguishing a response that is only a head",
    file: "src/proxy/exchange/download.ts",
    find: "unreadBytes === 0 && !this.#isSettled",
    replace: "unreadBytes === 0",
  },
  {
    ...E1,
    without: "writing the record of a failure before its refusal",
    file: "src/proxy/refusals/refuser.ts",
    find: "exchange.recordRefusal(code, hasClient ? getRefusalStatus(code, api) : null, cutBy, () => {\n      if (!hasClient) return;",
    replace:
      "exchange.recordRefusal(code, hasClient ? getRefusalStatus(code, api) : null, cutBy, () => {});\n    queueMicrotask(() => {\n      if (!hasClient) return;",
  },
  {
    ...E1,
    without: "writing the record before the client's connection is reset",
    file: "src/proxy/exchange/round-trip.ts",
    find: "this.#exchange.recordCut(isWhole ? null : ending.errorType, by, () => this.#close(false));",
    replace:
      "this.#exchange.recordCut(isWhole ? null : ending.errorType, (this.#close(false), by), () => {});",
  },
  {
    ...E1,
    without: "ending a torn line",
    file: DAY_FILE,
    find: "const bytes = endTornLine(fd);",
    replace: "const bytes = 0;",
  },
  {
    ...E1,
    without: "warning about a torn line",
    file: DAY_FILE,
    find: `if (bytes > 0) log.warn({ file: path, bytes }, "the last line of the ledger was torn; it is in no sum");`,
    replace: "",
  },
  {
    ...E1_KILL,
    without: "writing each record at once: they are batched",
    file: "src/adapters/ledger-file.ts",
    find: "append: (records) => writer.write(records.map(toEntry)),",
    replace: "append: (records) => void setTimeout(() => writer.write(records.map(toEntry)), 20),",
  },
  {
    ...E2,
    without: "an append that never throws",
    file: WRITER,
    find: "this.#onFault(error);\n    }\n    this.#written",
    replace: "this.#onFault(error);\n      throw error;\n    }\n    this.#written",
  },
  {
    row: "E2",
    test: "test/adapters/ledger-file/disk-faults.test.ts",
    without: "writing only once what a short write has written",
    file: DAY_FILE,
    find: "return lines.findIndex((line) => (left -= Buffer.byteLength(line)) < 0);",
    replace: "return left < 0 ? 1 : 0;",
  },
  {
    row: "E2",
    test: "test/adapters/ledger-file/disk-faults.test.ts",
    without: "noticing a short write",
    file: DAY_FILE,
    find: "if (written === Buffer.byteLength(text)) return lines.length;",
    replace: "if (written > 0) return lines.length;",
  },
  {
    ...E2,
    without: "queueing records that cannot be written",
    file: WRITER,
    find: "if (!this.#backlog.push(entry)) this.#lost += 1;",
    replace: "this.#lost += 1;",
  },
  {
    ...E2,
    without: "limiting the queue",
    file: "src/adapters/ledger-file/backlog.ts",
    find: "|| this.#bytes + bytes > MAX_BYTES",
    replace: "",
  },
  {
    ...E2,
    without: "counting lost records",
    file: WRITER,
    find: "if (!this.#backlog.push(entry)) this.#lost += 1;",
    replace: "this.#backlog.push(entry);",
  },
  {
    ...E2,
    without: "writing queued records first",
    file: WRITER,
    find: "this.#isRetryDue() && this.#flush() ? this.#append(entries) : 0",
    replace: "this.#isRetryDue() ? this.#append(entries) : 0",
  },
  {
    ...E2,
    without: "limiting reports to one per interval",
    file: WRITER,
    find: "now - this.#failureLoggedAt < LOG_INTERVAL_MS",
    replace: "now < this.#failureLoggedAt",
  },
  {
    ...E2,
    without: "noticing a deleted file at once",
    file: WRITER,
    find: "written = file.isDeleted() ? this.#open(day).append(lines) : taken;",
    replace: "written = taken;",
  },
  {
    ...E2,
    without: "retrying without another request",
    file: WRITER,
    find: "this.#logFailure();\n    this.#scheduleRetry();",
    replace: "this.#logFailure();",
  },
  {
    ...E2,
    without: "reporting waiting records in the status",
    file: "src/core/health.ts",
    find: 'ledger.waiting > 0 ? "ledger" : "ok"',
    replace: '"ok"',
  },
  {
    ...E2,
    without: "a log that never throws",
    file: LOG_OUTPUT,
    find: "} catch {\n      return false;",
    replace: "} catch (error) {\n      throw error;",
  },
  {
    ...E2,
    without: "finishing a line that was partly written",
    file: LOG_OUTPUT,
    find: "if (this.#rest.length > 0) this.#send(this.#rest);\n      if (this.#rest.length > 0) return false;",
    replace: "",
  },
  {
    ...E2,
    without: "counting lost log lines",
    file: LOG_OUTPUT,
    find: "this.#dropped += 1;",
    replace: "",
  },
  {
    ...E2_MOVE,
    without: "writing queued records after a move to another directory",
    file: WRITER,
    find: "this.appended.clear();\n    if (this.#flush()) this.#logRecovery();",
    replace: "this.appended.clear();",
  },
  {
    ...E4_MOVE,
    without: "securing the directory that the ledger moves to",
    file: WRITER,
    find: "ensurePrivateDirectory(location.directory);\n      refuseUnwritable(location.directory);",
    replace: "refuseUnwritable(location.directory);",
  },
  {
    ...E4,
    without: "refusing to follow symbolic links",
    file: OWN_FILE,
    find: "O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW",
    replace: "O_RDWR | O_APPEND | O_CREAT",
  },
  {
    ...E4,
    without: "refusing hard links",
    file: OWN_FILE,
    find: "if (found.nlink > 1) throw hasSecondName(path);",
    replace: "",
  },
  {
    ...E4,
    without: "refusing anything but a regular file",
    file: OWN_FILE,
    find: "if (!found.isFile()) throw notAFile(path);",
    replace: "",
  },
  {
    ...E4,
    without: "refusing files of other users",
    file: OWN_FILE,
    find: "if (self === undefined || found.uid === self) return;",
    replace: "if (self === undefined || found.uid !== 0) return;",
  },
  {
    ...E4_ADVICE,
    without: "advising to move another user's file away, not to take it over",
    file: "src/core/foreign-file.ts",
    find: "if (owner === ROOT) return",
    replace: "if (owner !== self) return",
  },
  {
    row: "E4",
    test: "test/adapters/open-up.test.ts",
    without: "opening up what belongs to us or root alone",
    file: "src/adapters/open-up.ts",
    find: "tryStat(path)?.uid !== 0 ||",
    replace: "",
  },
  {
    ...E4,
    without: "tightening the mode of a file",
    file: OWN_FILE,
    find: "if ((found.mode & PERMISSIONS) !== 0o600) fs.fchmodSync(fd, 0o600);",
    replace: "",
  },
  {
    ...E4,
    without: "refusing an existing directory that is open to others",
    file: OWN_FILE,
    find: `if ((mode & OPEN_TO_OTHERS) !== 0 && !isWindows) throw withLooseMode(directory, "is open to other users");`,
    replace: "void mode;",
  },
  {
    ...E4,
    without: "leaving the mode of an existing directory alone",
    file: OWN_FILE,
    find: "if (created !== undefined) fs.chmodSync(directory, 0o700);",
    replace: "fs.chmodSync(directory, 0o700);",
  },
  {
    ...E4,
    without: "writing on in a directory that others can only read",
    file: WRITER,
    find: "ensureSafeDirectory(directory);\n    this.#file =",
    replace: "ensurePrivateDirectory(directory);\n    this.#file =",
  },
  {
    ...E4,
    without: "setting the mode of a new file",
    file: OWN_FILE,
    find: "(found.mode & PERMISSIONS) !== 0o600) fs.fchmodSync(fd, 0o600)",
    replace: "(found.mode & PERMISSIONS) === 0o600) fs.fchmodSync(fd, 0o644)",
  },
  {
    ...E4,
    without: "refusing group-writable directories",
    file: OWN_FILE,
    find: "const WRITABLE_BY_OTHERS = 0o022;",
    replace: "const WRITABLE_BY_OTHERS = 0o002;",
  },
  {
    ...E4,
    without: "checking the directory itself: links are followed",
    file: OWN_FILE,
    find: "fs.lstatSync(directory)",
    replace: "fs.statSync(directory)",
  },
  {
    ...E4,
    without: "checking the socket's directory itself: links are followed",
    file: "src/adapters/control-socket/directory.ts",
    find: "import { chmodSync, lstatSync, mkdirSync }",
    replace: "import { chmodSync, statSync as lstatSync, mkdirSync }",
  },
  {
    ...E4_ADDRESS,
    without: "refusing an address of the daemon that others could have written",
    file: "src/adapters/control-socket/address-file.ts",
    find: "const WRITABLE_BY_OTHERS = 0o022;",
    replace: "const WRITABLE_BY_OTHERS = 0;",
  },
  {
    ...E4,
    without: "refusing a world-writable configuration",
    file: "src/adapters/trust/exposure.ts",
    find: "if (!isOpenTo(step, WRITABLE_BY_ALL, trusted)) return null;",
    replace: "return null;",
  },
];
