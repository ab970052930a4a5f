import { showStatusline } from "./cli/commands/statusline.ts";
import { readStatuslineLine } from "./cli/commands/statusline/arguments.ts";
import { explainOldNode } from "./required-node.ts";

// What `connect --statusline` has Claude Code run: the same as `tollkeeper statusline`, bundled into one file, because most of the time
// goes into loading files. What it imports of Node's exists in old versions, too.

const problem = explainOldNode();
const given = readStatuslineLine(["statusline", ...process.argv.slice(2)]);
if (problem !== null) process.stdout.write(`${problem}\n`);
else if (given === null) process.stdout.write("see: tollkeeper statusline --help\n");
else await showStatusline(given);
