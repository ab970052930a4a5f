import type { Mutant } from "./mutant.ts";

const E9_SOCKET = { row: "E9", test: "test/adapters/control-socket.test.ts" };
const E9_SHAPE = { row: "E9", test: "test/core/data-shape.test.ts" };
const E9 = { row: "E9", test: "test/faults/e9-daemons-answers.test.ts" };

/** Rules for what the daemon, or what listens in its place, answers to commands: E9. */
export const ANSWERS: readonly Mutant[] = [
  {
    ...E9_SOCKET,
    without: "making each text of an answer one line",
    file: "src/adapters/control-socket/client.ts",
    find: 'typeof value === "string" ? clean(value) : value',
    replace: "value",
  },
  {
    ...E9_SOCKET,
    without: "escaping control characters of metrics",
    file: "src/adapters/control-socket/client.ts",
    find: 'const clean = command === "metrics" ? toPrintableLines : toOneLine;',
    replace: 'const clean = command === "metrics" ? String : toOneLine;',
  },
  {
    ...E9_SOCKET,
    without: "making the message of a refusal one line",
    file: "src/adapters/control-socket/protocol.ts",
    find: "new Failure(toOneLine(message),",
    replace: "new Failure(message,",
  },
  {
    ...E9_SOCKET,
    without: "making the hint of a refusal one line",
    file: "src/adapters/control-socket/protocol.ts",
    find: 'typeof hint === "string" ? toOneLine(hint) : undefined',
    replace: 'typeof hint === "string" ? hint : undefined',
  },
  {
    ...E9,
    without: "checking the shape of an answer",
    file: "src/daemon/running-daemon.ts",
    find: "if (fault === null) return answer",
    replace: "return answer",
  },
  {
    ...E9_SHAPE,
    without: "checking what is in lists",
    file: "src/core/data-shape.ts",
    find: "return firstFault(value.map((item, at) => [shape, item, `${path}[${at}]`]));",
    replace: "return null;",
  },
  {
    ...E9,
    without: "checking the shape of what the status line is told",
    file: "src/cli/commands/statusline.ts",
    find: 'if (FACTS.findFault(value, "") !== null) return { trouble: TROUBLE.unclear };',
    replace: "",
  },
];
