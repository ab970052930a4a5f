import {
  CHUNKED_HELLO,
  CHUNKED_HIDDEN,
  HIDDEN,
  LENGTH,
  passes,
  post,
  refused,
  show,
  type SmugglingCase,
} from "./case.ts";

export const bothLengths: SmugglingCase[] = [
  ["CL.TE", `${LENGTH}\r\nTransfer-Encoding: chunked`],
  ["TE.CL, the encoding first", `Transfer-Encoding: chunked\r\nContent-Length: 5`],
  ["a length of 0 beside chunked", `Content-Length: 0\r\nTransfer-Encoding: chunked`],
  ["a length beside CHUNKED", `${LENGTH}\r\nTRANSFER-ENCODING: CHUNKED`],
  ["a length beside identity", `${LENGTH}\r\nTransfer-Encoding: identity`],
  ["a length beside an empty encoding", `${LENGTH}\r\nTransfer-Encoding:`],
  ["a length beside gzip, chunked", `${LENGTH}\r\nTransfer-Encoding: gzip, chunked`],
  [
    "a length between two encodings",
    `Transfer-Encoding: identity\r\n${LENGTH}\r\nTransfer-Encoding: chunked`,
  ],
].map(([name = "", lines = ""]) => refused(name, post(lines, CHUNKED_HIDDEN)));

export const encodings: SmugglingCase[] = [
  "xchunked",
  "chunkedx",
  "x-chunked",
  "chunked, identity",
  "chunked, chunked",
  "chunked;q=1",
  '"chunked"',
  "'chunked'",
  "chunked,",
  "chunk\ted",
  "identity",
  "cow",
  "",
  "\vchunked",
  "\fchunked",
  "chunked\v",
  "\0chunked",
  "chunked\0",
  "\xa0chunked",
  "chunked\x85",
  "\x1fchunked",
  "chunked\x7f",
  "chunked cow",
].map((value) =>
  refused(`transfer-encoding ${show(value)}`, post(`Transfer-Encoding: ${value}`, CHUNKED_HIDDEN)),
);

/** These end in chunked, so the end of the body is clear (RFC 9112 section 6.3) and the hidden request is a request of its own. */
export const encodingsBesideChunked: SmugglingCase[] = ["identity, chunked", "gzip, chunked", ",chunked"].map(
  (value) => ({
    name: `transfer-encoding ${show(value)}`,
    parts: [post(`Transfer-Encoding: ${value}`, CHUNKED_HIDDEN)],
    responses: [400, 403],
    forwarded: [],
  }),
);

export const encodingLines: SmugglingCase[] = [
  "Transfer-Encoding : chunked",
  "Transfer-Encoding\t: chunked",
  "Transfer-Encoding\0: chunked",
  "Transfer-Encoding\v: chunked",
  "Transfer Encoding: chunked",
  "Transfer\rEncoding: chunked",
  "Transfer-Encoding\n: chunked",
  " Transfer-Encoding: chunked",
  "\tTransfer-Encoding: chunked",
  "X: y\nTransfer-Encoding: chunked",
  "X: y\rTransfer-Encoding: chunked",
  "X: y\r\r\nTransfer-Encoding: chunked",
  "Transfer-Encoding:\r\n chunked",
  "Transfer-Encoding:\n chunked",
  "Transfer-Encoding: \t chunked \t ",
  "Transfer-Encoding: chunked\r\n , identity",
  "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
  "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
  "Transfer-Encoding: chunked\r\ntransfer-encoding: cow",
].map((lines) => refused(`the line ${show(lines)}`, post(`${lines}\r\n${LENGTH}`, CHUNKED_HIDDEN)));

export const sameEncoding: SmugglingCase[] = [
  "tRANSFER-eNCODING: chunked",
  "Transfer-Encoding:chunked",
  "Transfer-Encoding: ChUnKeD",
].map((line) => passes(`the line ${show(line)}`, post(line, CHUNKED_HELLO), "hello"));

export const lookAlikes: SmugglingCase[] = [
  "Transfer_Encoding: chunked",
  "transfer_encoding: chunked",
  "Content_Length: 0",
  "CONTENT_LENGTH: 500",
].map((line) =>
  passes(`the look-alike ${show(line)}`, post(`${line}\r\n${LENGTH}`, CHUNKED_HIDDEN), CHUNKED_HIDDEN),
);

export const lengths: SmugglingCase[] = [
  "+5",
  "-5",
  "-0",
  "0x5",
  "5a",
  "5.0",
  "1e1",
  "5,5",
  "5, 5",
  "5, 6",
  "",
  "5 5",
  "5;",
  '"5"',
  "Infinity",
  "\x005",
  "5\0",
  "5\v",
  "\v5",
  "\xa05",
  "\xb2",
  "99999999999999999999",
  "18446744073709551621",
  "0 5",
  "05",
].map((value) =>
  refused(`content-length ${show(value)}`, post(`Content-Length: ${value}`, `hello${HIDDEN}`)),
);

export const lengthLines: SmugglingCase[] = [
  "Content-Length: 5\r\nContent-Length: 5",
  "Content-Length: 5\r\nContent-Length: 6",
  "Content-Length: 0\r\ncontent-length: 5",
  "Content-Length: 5\r\nContent-Length:",
  "Content-Length : 5",
  "Content-Length\t: 5",
  "Content-Length\0: 5",
  "Content Length: 5",
  " Content-Length: 5",
  "Content-Length:\r\n 5",
  "Content-Length: 5\r\n 0",
  "Content-Length: 5\r\n\t0",
  "X: y\nContent-Length: 5",
  "X: y\rContent-Length: 5",
  "Content-Length: 5\r",
  "Content-Length: 5\nX: y",
].map((lines) => refused(`the line ${show(lines)}`, post(lines, `hello${HIDDEN}`)));
