/** Programs that run scripts: the script identifies the process, the executable does not. */
const INTERPRETER =
  /^(?:node(?:js)?|bun|deno|electron|python|pypy|ruby|perl|php|java|dotnet|lua(?:jit)?|ld-linux[\w-]*|ld-musl[\w-]*)[\d.-]*(?:\.so\.\d)?$/;

const SHELLS = new Set("sh bash dash zsh fish ksh mksh tcsh csh ash busybox nu pwsh elvish xonsh".split(" "));

/** Init systems, session managers, containers and terminals. They start everything, so their parents identify no tool. */
const SESSION_ROOTS = [
  "systemd init launchd login su sshd sshd-session sshd-auth mosh-server cron crond supervisord",
  "dockerd containerd containerd-shim-runc-v2 conmon runc gnome-shell plasmashell kwin_wayland sway",
  "tmux screen zellij dtach abduco gnome-terminal-server ptyxis ptyxis-agent kgx gnome-console konsole",
  "xfce4-terminal mate-terminal lxterminal qterminal terminator tilix guake yakuake xterm urxvt rxvt st foot",
  "kitty alacritty wezterm-gui ghostty rio hyper tabby contour warp warp-terminal terminal iterm2",
]
  .flatMap((names) => names.split(" "))
  // The title that tmux gives itself, visible in place of its executable.
  .concat("tmux: server");

/**
 * Relays: programs that pass on the connections of others, out of a container or a virtual machine, or from another host. Their parents say
 * nothing about the client.
 */
const RELAYS = [
  "ssh sshd sshd-session autossh dropbear dbclient socat",
  "docker-proxy com.docker.backend com.docker.vpnkit vpnkit rootlesskit rootlessport podman conmon",
  "gvproxy pasta pasta.avx2 passt passt.avx2 slirp4netns limactl wslrelay wslhost",
].flatMap((names) => names.split(" "));

/** Length to which the kernel truncates the process name (proc_pid_comm(5)), which replaces an invisible executable's. */
const COMM_LENGTH = 15;

/** Returns the base name of a path in the spelling of the tables: lower case, without `.exe`. */
export function toProgramName(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return name.replace(/\.exe$/, "");
}

/** True when the executable runs scripts, so that its own name does not identify the process. */
export function isInterpreter(executable: string): boolean {
  return INTERPRETER.test(toProgramName(executable));
}

/** True for shells, login shells (`-zsh`) included. */
export function isShell(executable: string): boolean {
  return SHELLS.has(toProgramName(executable).replace(/^-/, ""));
}

/** True for a relay: a program that passes on the connections of others, so that neither it, its parents nor its directory are the client's. */
export function isRelay(executable: string): boolean {
  return isListed(executable, RELAYS);
}

/** True for a terminal, a session manager, a container runtime or an init system. */
export function isSessionRoot(executable: string): boolean {
  return isListed(executable, SESSION_ROOTS);
}

function isListed(executable: string, programs: readonly string[]): boolean {
  const name = toProgramName(executable);
  if (programs.includes(name)) return true;
  return name.length === COMM_LENGTH && programs.some((program) => program.startsWith(name));
}
