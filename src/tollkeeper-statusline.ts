import { showStatusline } from "./cli/commands/statusline.ts";
import { readStatuslineLine } from "./cli/commands/statusline/arguments.ts";

// What `connect --statusline` has Claude Code run: the same as `tollkeeper statusline`, bundled into one file, because most of the time
// goes into loading files.

const given = readStatuslineLine(["statusline", ...process.argv.slice(2)]);
if (given === null) process.stdout.write("see: tollkeeper statusline --help\n");
else await showStatusline(given);
