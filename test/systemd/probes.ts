/** An attempt whose outcome depends on a setting of the unit. */
export interface Probe {
  /** Name of the setting. */
  setting: string;
  tries: string;
  /** Perl code that runs in probe-program.ts. Its value is the outcome. */
  perl: string;
  without: string;
  with: string;
  /** Settings of the unit that this one depends on. `without` is the outcome with these alone. */
  beside?: readonly string[];
}

/** Shell commands that prepare the container for the probes, run as its root with every capability. */
export const PROBED_PLACES = `
  cp /usr/bin/id /usr/local/bin/id-of-root && chmod 4755 /usr/local/bin/id-of-root
  mkdir -p -m 777 /var/lib/open-to-all /usr/lib/modules
  mknod -m 666 /dev/some-device c 1 3
  touch /tmp/of-somebody-else
`;

/** Shell commands that prepare the home directory for the probes, run as the user. */
export const PROBED_HOME = `mkdir -p ~/.ssh ~/.gnupg && touch ~/.ssh/id_ed25519 ~/.gnupg/pubring.kbx`;

const IN_NAMESPACE = ["PrivateUsers"];

/**
 * One probe for every setting that restricts the daemon or lifts a restriction. Where an unprivileged process may not do
 * something anyway, the attempt is made such that the kernel itself would return a different error: with an invalid
 * argument (RestrictRealtime=, ProtectClock=), or with the privileges of a user namespace (ProtectHostname=).
 */
export const PROBES: readonly Probe[] = [
  {
    setting: "UMask",
    tries: "what others may do with a new file",
    perl: `open($file, ">", "/tmp/new-$$") && sprintf("%04o", (stat $file)[2] & 07777)`,
    without: "0644",
    with: "0600",
  },
  {
    setting: "LimitCORE",
    tries: "allow core dumps",
    perl: `system("sh", "-c", "ulimit -c unlimited 2>/dev/null") == 0 ? "done" : "refused"`,
    without: "done",
    with: "refused",
  },
  {
    setting: "LimitNOFILE",
    tries: "open 3000 files",
    perl: `tried(!grep { !open($open[$_], "<", "/dev/null") } 1..3000)`,
    without: "EMFILE",
    with: "done",
  },
  {
    setting: "NoNewPrivileges",
    tries: "become root by a set-uid program",
    perl: `qx(id-of-root -u) =~ /(\\d+)/ && "uid $1"`,
    without: "uid 0",
    with: "uid 1000",
  },
  {
    setting: "LockPersonality",
    tries: "switch address randomisation off",
    perl: `tried(call("personality", 0x0040000))`,
    without: "done",
    with: "EPERM",
  },
  {
    setting: "RestrictRealtime",
    tries: "ask for real-time scheduling, with a priority that there is not",
    perl: `tried(call("sched_setscheduler", 0, 1, pack("i", 0)))`,
    without: "EINVAL",
    with: "EPERM",
  },
  {
    setting: "RestrictSUIDSGID",
    tries: "make a set-uid program",
    perl: `open($file, ">", "/tmp/set-uid-$$"); tried(chmod 04755, "/tmp/set-uid-$$")`,
    without: "done",
    with: "EPERM",
  },
  {
    setting: "RestrictNamespaces",
    tries: "make a user namespace",
    perl: `tried(call("unshare", 0x10000000))`,
    without: "done",
    with: "EPERM",
  },
  {
    setting: "ProtectClock",
    tries: "set the clock, to a time at no address",
    perl: `tried(call("clock_settime", 0, 0))`,
    without: "EFAULT",
    with: "EPERM",
    beside: IN_NAMESPACE,
  },
  {
    setting: "ProtectHostname",
    tries: "change the host's name, in a user namespace",
    perl: `tried(call("unshare", 0x14000000) && call("sethostname", "other", 5))`,
    without: "done",
    with: "EPERM",
    beside: IN_NAMESPACE,
  },
  {
    setting: "ProtectKernelModules",
    tries: "look at the kernel's modules",
    perl: `tried(opendir($file, "/usr/lib/modules"))`,
    without: "done",
    with: "EACCES",
    beside: IN_NAMESPACE,
  },
  {
    setting: "ProtectKernelTunables",
    tries: "read the kernel's symbols",
    perl: `tried(open($file, "<", "/proc/kallsyms"))`,
    without: "done",
    with: "EACCES",
    beside: IN_NAMESPACE,
  },
  {
    setting: "KeyringMode",
    tries: "find a kernel key of the user's other services",
    perl: `tried(call("keyctl", 10, -3, "user", "of-another-service", 0))`,
    without: "done",
    with: "ENOKEY",
  },
  {
    setting: "RestrictAddressFamilies",
    tries: "open a packet socket",
    perl: `tried(call("socket", 17, 3, 0))`,
    without: "EPERM",
    with: "EAFNOSUPPORT",
  },
  {
    setting: "SystemCallArchitectures",
    tries: "run a program of another architecture",
    perl: `foreign()`,
    without: "exit 7",
    with: "SIGSYS",
  },
  {
    setting: "SystemCallFilter",
    tries: "be traced",
    perl: `tried(call("ptrace", 0, 0, 0, 0))`,
    without: "done",
    with: "EPERM",
    beside: ["SystemCallErrorNumber"],
  },
  {
    setting: "SystemCallErrorNumber",
    tries: "be traced, and live",
    perl: `tried(call("ptrace", 0, 0, 0, 0))`,
    without: "SIGSYS",
    with: "EPERM",
    beside: ["SystemCallFilter"],
  },
  {
    setting: "RuntimeDirectory",
    tries: "write beside the control socket",
    perl: `tried(open($file, ">", "$ENV{XDG_RUNTIME_DIR}/tollkeeper/new"))`,
    without: "EROFS",
    with: "done",
    beside: ["PrivateUsers", "ProtectHome"],
  },
  {
    setting: "RuntimeDirectoryMode",
    tries: "what others may do in the control socket's directory",
    perl: `sprintf("%04o", (stat "$ENV{XDG_RUNTIME_DIR}/tollkeeper")[2] & 07777)`,
    without: "0755",
    with: "0700",
    beside: ["RuntimeDirectory"],
  },
  {
    setting: "PrivateUsers",
    tries: "whose the system's files are",
    perl: `"uid " . (stat "/etc")[4]`,
    without: "uid 0",
    with: "uid 65534",
  },
  {
    setting: "ProtectSystem",
    tries: "write where everybody may",
    perl: `tried(open($file, ">", "/var/lib/open-to-all/new"))`,
    without: "done",
    with: "EROFS",
    beside: IN_NAMESPACE,
  },
  {
    setting: "ProtectHome",
    tries: "write to the home directory",
    perl: `tried(open($file, ">", "$ENV{HOME}/new"))`,
    without: "done",
    with: "EROFS",
    beside: IN_NAMESPACE,
  },
  {
    setting: "ReadWritePaths",
    tries: "write to the ledger's directory",
    perl: `tried(open($file, ">", "$ENV{HOME}/.local/state/tollkeeper/new"))`,
    without: "EROFS",
    with: "done",
    beside: ["PrivateUsers", "ProtectHome", "ProtectSystem"],
  },
  {
    setting: "InaccessiblePaths",
    tries: "read an ssh key and a gpg keyring",
    perl: `join(" ", map { tried(open($file, "<", "$ENV{HOME}/$_")) } ".ssh/id_ed25519", ".gnupg/pubring.kbx")`,
    without: "done done",
    with: "EACCES EACCES",
    beside: IN_NAMESPACE,
  },
  {
    setting: "PrivateTmp",
    tries: "see a temporary file of somebody else",
    perl: `tried(open($file, "<", "/tmp/of-somebody-else"))`,
    without: "done",
    with: "ENOENT",
    beside: IN_NAMESPACE,
  },
  {
    setting: "PrivateDevices",
    tries: "open a device that is open to all",
    perl: `tried(open($file, "<", "/dev/some-device"))`,
    without: "done",
    with: "ENOENT",
    beside: IN_NAMESPACE,
  },
  {
    setting: "ProtectControlGroups",
    tries: "make a control group",
    perl: `tried(mkdir "/sys/fs/cgroup" . ownGroup() . "/new-$$")`,
    without: "done",
    with: "EROFS",
    beside: IN_NAMESPACE,
  },
  {
    setting: "CapabilityBoundingSet",
    tries: "which privileges a program could ever gain",
    perl: `slurp("/proc/self/status") =~ /^CapBnd:\\s*0*$/m ? "none" : "some"`,
    without: "some",
    with: "none",
    beside: IN_NAMESPACE,
  },
];
