/** What runs scripts: whose process it is, the script says. */
const INTERPRETER =
  /^(?:node(?:js)?|bun|deno|electron|python|pypy|ruby|perl|php|java|dotnet|lua(?:jit)?|ld-linux[\w-]*|ld-musl[\w-]*)[\d.-]*(?:\.so\.\d)?$/;

const SHELLS = new Set("sh bash dash zsh fish ksh mksh tcsh csh ash busybox nu pwsh elvish xonsh".split(" "));

/** Who starts whatever a person types or a machine runs: what stands above them says nothing of a tool. */
const SESSION_ENDS = [
  "systemd init launchd login su sshd sshd-session sshd-auth mosh-server cron crond supervisord",
  "dockerd containerd containerd-shim-runc-v2 conmon runc gnome-shell plasmashell kwin_wayland sway",
  "tmux screen zellij dtach abduco gnome-terminal-server ptyxis ptyxis-agent kgx gnome-console konsole",
  "xfce4-terminal mate-terminal lxterminal qterminal terminator tilix guake yakuake xterm urxvt rxvt st foot",
  "kitty alacritty wezterm-gui ghostty rio hyper tabby contour warp warp-terminal terminal iterm2",
].flatMap((names) => names.split(" "));

/** What it calls itself, where its executable cannot be seen. */
const TITLES = ["tmux: server"];

/** What the kernel keeps of a name where the executable itself cannot be seen: 15 characters (proc_pid_comm(5)). */
const COMM_CHARACTERS = 15;

/** The base name of a path in the spelling of the tables: lower case, without `.exe`. */
export function nameOfProgram(path: string): string {
  return path
    .slice(path.lastIndexOf("/") + 1)
    .toLowerCase()
    .replace(/\.exe$/, "");
}

/** Does this program run scripts, so that its own name says nothing? */
export function isInterpreter(executable: string): boolean {
  return INTERPRETER.test(nameOfProgram(executable));
}

export function isShell(executable: string): boolean {
  return SHELLS.has(nameOfProgram(executable).replace(/^-/, ""));
}

/** Is this a terminal, a session's manager, or the first of all processes? */
export function isSessionEnd(executable: string): boolean {
  const name = nameOfProgram(executable);
  if (SESSION_ENDS.includes(name) || TITLES.includes(name)) return true;
  return name.length === COMM_CHARACTERS && SESSION_ENDS.some((end) => end.startsWith(name));
}
