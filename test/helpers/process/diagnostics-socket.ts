/** socket(2): SOCK_RAW, and SOCK_NONBLOCK in addition to it. */
const [RAW, NON_BLOCKING] = [3, 2048];

/** A command that execs the command appended to it, with a socket for the kernel's diagnostics of sockets (sock_diag(7)). */
export const WITH_DIAGNOSTICS = openSocket(RAW | NON_BLOCKING);

/** The same with a socket on which a read may block. */
export const WITH_BLOCKING_DIAGNOSTICS = openSocket(RAW);

/**
 * What systemd does for `ListenNetlink=inet-diag`: opens and binds a netlink socket of the protocol NETLINK_SOCK_DIAG, which Node cannot.
 * It follows the other sockets that are passed. Perl is part of every Debian.
 */
function openSocket(type: number): readonly string[] {
  const program = `
    $^F = 255;
    socket(my $socket, 16, ${type}, 4) or die "socket: $!";
    bind($socket, pack("SSLL", 16, 0, 0, 0)) or die "bind: $!";
    $ENV{LISTEN_FDS} = fileno($socket) - 2;
    $ENV{LISTEN_PID} = $$;
    exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!"`;
  return ["perl", "-e", program, "--"];
}
