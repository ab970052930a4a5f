import { GONE_UID } from "../../ports.ts";
import { isV6, NO_INODE, splitV4, type Endpoint } from "../socket-table.ts";
import type { SocketOwner } from "./find-socket-rows.ts";

// The two messages of sock_diag(7) for one TCP socket: `struct nlmsghdr` of netlink(7) with `struct inet_diag_req_v2`, and with
// `struct inet_diag_msg`. Numbers are in host order, which is little-endian on all supported systems; ports and addresses are not.

const HEADER_BYTES = 16;
const REQUEST_BYTES = HEADER_BYTES + 56;
const MIN_ANSWER_BYTES = HEADER_BYTES + 72;

const [SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST] = [20, 1];
const [AF_INET, AF_INET6, IPPROTO_TCP] = [2, 10, 6];

// Offsets in a request.
const [LENGTH, TYPE, FLAGS, SEQUENCE] = [0, 4, 6, 8];
const [FAMILY, PROTOCOL, STATES, SOCKET, COOKIE] = [16, 17, 20, 24, 64];
// Offsets within the socket's identity, in both messages.
const [LOCAL_PORT, REMOTE_PORT, LOCAL_ADDRESS, REMOTE_ADDRESS] = [0, 2, 4, 20];
// Offsets in an answer.
const [ANSWERED_SOCKET, UID, INODE] = [20, 80, 84];

const EVERY_STATE = 0xffff_ffff;
/** Each byte of `INET_DIAG_NOCOOKIE`: any socket with these endpoints. */
const NO_COOKIE = 0xff;

/** Encodes the query for the TCP socket with these endpoints. `sequence`: 32 bits, which the answer repeats. */
export function writeQuery(local: Endpoint, remote: Endpoint, sequence: number): Buffer {
  const query = Buffer.alloc(REQUEST_BYTES);
  query.writeUInt32LE(REQUEST_BYTES, LENGTH);
  query.writeUInt16LE(SOCK_DIAG_BY_FAMILY, TYPE);
  query.writeUInt16LE(NLM_F_REQUEST, FLAGS);
  query.writeUInt32LE(sequence, SEQUENCE);
  query[FAMILY] = isV6(local.address) ? AF_INET6 : AF_INET;
  query[PROTOCOL] = IPPROTO_TCP;
  query.writeUInt32LE(EVERY_STATE, STATES);
  query.writeUInt16BE(local.port, SOCKET + LOCAL_PORT);
  query.writeUInt16BE(remote.port, SOCKET + REMOTE_PORT);
  writeAddress(query, local, SOCKET + LOCAL_ADDRESS);
  writeAddress(query, remote, SOCKET + REMOTE_ADDRESS);
  query.fill(NO_COOKIE, COOKIE);
  return query;
}

/** True for an answer to the query with this sequence number, be it an error. */
export function isAnswerTo(sequence: number, answer: Buffer): boolean {
  return answer.length >= HEADER_BYTES && answer.readUInt32LE(SEQUENCE) === sequence;
}

/**
 * Returns the owner of the socket; null for an error, such as ENOENT for no socket. If no connected socket has these endpoints, the kernel
 * returns a socket that listens on the local port; that is not the client's.
 */
export function readOwner(answer: Buffer, local: Endpoint, remote: Endpoint): SocketOwner | null {
  if (answer.length < MIN_ANSWER_BYTES || answer.readUInt16LE(TYPE) !== SOCK_DIAG_BY_FAMILY) return null;
  const ports = [LOCAL_PORT, REMOTE_PORT].map((offset) => answer.readUInt16BE(ANSWERED_SOCKET + offset));
  if (ports[0] !== local.port || ports[1] !== remote.port) return null;
  const inode = answer.readUInt32LE(INODE);
  return { uid: inode === NO_INODE ? GONE_UID : answer.readUInt32LE(UID), inode };
}

function writeAddress(query: Buffer, { address }: Endpoint, offset: number): void {
  // `::1`
  if (isV6(address)) query[offset + 15] = 1;
  // Among these the kernel also finds a v6 socket that is connected to a v4 address.
  else query.set(splitV4(address), offset);
}
