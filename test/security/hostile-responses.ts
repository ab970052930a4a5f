const JSON_TYPE = "content-type: application/json\r\n";

/** A response with these header lines, each with its line end, and a body of two bytes. */
const withLines = (lines: string) => `HTTP/1.1 200 OK\r\n${JSON_TYPE}${lines}\r\n{}`;

const withStatus = (line: string) => `${line}\r\n${JSON_TYPE}content-length: 2\r\n\r\n{}`;

const LENGTH = "content-length: 2\r\n";

/** Malformed responses, of which no client receives anything. */
export const UNREADABLE_RESPONSES: Record<string, string> = {
  "something other than HTTP": "220 mail.example ESMTP\r\n\r\n",
  "HTTP/0.9": "<html>poison</html>\r\n\r\n",
  "the preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "frames of HTTP/2": "\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x64\r\n\r\n",
  "version HTTP/2": withStatus("HTTP/2 200 OK"),
  "version HTTP/2.0": withStatus("HTTP/2.0 200 OK"),
  "version HTTP/0.9": withStatus("HTTP/0.9 200 OK"),
  "version HTTP/3.0": withStatus("HTTP/3.0 200 OK"),
  "a request": `GET / HTTP/1.1\r\nhost: x\r\n\r\n`,
  "a space before the version": withStatus(" HTTP/1.1 200 OK"),
  "a tab instead of a space": withStatus("HTTP/1.1\t200 OK"),
  "lower-case http": withStatus("http/1.1 200 OK"),
  "a status without digits": withStatus("HTTP/1.1 abc OK"),
  "a status of one digit": withStatus("HTTP/1.1 2 OK"),
  "a status of two digits": withStatus("HTTP/1.1 99 Low"),
  "a status of four digits": withStatus("HTTP/1.1 2000 OK"),
  "a status with a sign": withStatus("HTTP/1.1 +200 OK"),
  "an empty status": withStatus("HTTP/1.1  OK"),
  "status 000": withStatus("HTTP/1.1 000 Zero"),
  "status 099": withStatus("HTTP/1.1 099 Low"),
  "status 600": withStatus("HTTP/1.1 600 High"),
  "status 999": withStatus("HTTP/1.1 999 High"),
  "a CR in the reason": withStatus("HTTP/1.1 200 O\rK"),
  "an LF after the first line": `HTTP/1.1 200 OK\n${JSON_TYPE}${LENGTH}\r\n{}`,
  "LF after every line": withLines(LENGTH).replaceAll("\r\n", "\n"),
  "CR after every line": withLines(LENGTH).replaceAll("\r\n", "\r"),
  "an upgrade that was not requested":
    "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
  "101 without an upgrade": "HTTP/1.1 101 Switching Protocols\r\n\r\n",
  "an interim response followed by something other than HTTP":
    "HTTP/1.1 103 Early Hints\r\n\r\n220 mail.example\r\n\r\n",
  "two lengths": withLines(`content-length: 2\r\ncontent-length: 3\r\n`),
  "one length twice": withLines(`content-length: 2\r\ncontent-length: 2\r\n`),
  "a list of lengths": withLines("content-length: 2, 2\r\n"),
  "a length with a sign": withLines("content-length: +2\r\n"),
  "a negative length": withLines("content-length: -2\r\n"),
  "a hexadecimal length": withLines("content-length: 0x2\r\n"),
  "an empty length": withLines("content-length:\r\n"),
  "a length of 2^64 + 2": withLines("content-length: 18446744073709551618\r\n"),
  "a length with a leading zero": withLines("content-length: 02\r\n"),
  "a length beside chunked": withLines(`${LENGTH}transfer-encoding: chunked\r\n`),
  "chunked beside a length": withLines(`transfer-encoding: chunked\r\n${LENGTH}`),
  "a space before the colon": withLines(`${LENGTH}x : y\r\n`),
  "a space in a name": withLines(`${LENGTH}x y: z\r\n`),
  "an empty name": withLines(`${LENGTH}: y\r\n`),
  "a line without a colon": withLines(`${LENGTH}poison\r\n`),
  "a NUL in a name": withLines(`${LENGTH}x\0: y\r\n`),
  "a NUL in a value": withLines(`${LENGTH}x: a\0b\r\n`),
  "an escape in a value": withLines(`${LENGTH}x: \x1b[31m\r\n`),
  "a DEL in a value": withLines(`${LENGTH}x: a\x7fb\r\n`),
  "a CR in a value": withLines(`${LENGTH}x: a\rset-cookie: b\r\n`),
  "an LF in a value": withLines(`${LENGTH}x: a\nset-cookie: b\r\n`),
  "a folded value": withLines(`${LENGTH}x: a\r\n set-cookie: b\r\n`),
  "a folded length": withLines("content-length: 2\r\n 0\r\n"),
  "a fold before the first header": `HTTP/1.1 200 OK\r\n ${JSON_TYPE}${LENGTH}\r\n{}`,
  "200 KB in one header": withLines(`${LENGTH}x: ${"a".repeat(200_000)}\r\n`),
  "200 KB in many headers": withLines(LENGTH + "x: aaaaaaaa\r\n".repeat(16_000)),
  "a name of 200 KB": withLines(`${LENGTH}${"x".repeat(200_000)}: a\r\n`),
};

const CHUNKED = "2\r\n{}\r\n0\r\n\r\n";

const withEncoding = (lines: string) => `HTTP/1.1 200 OK\r\n${JSON_TYPE}${lines}\r\n\r\n${CHUNKED}`;

/** Responses whose transfer encoding leaves the end or the meaning of the body unclear. */
export const AMBIGUOUSLY_FRAMED_RESPONSES: Record<string, string> = {
  ...Object.fromEntries(
    [
      "identity",
      "gzip",
      "xchunked",
      "chunked, gzip",
      "gzip, chunked",
      "chunked, chunked",
      "",
      '"chunked"',
      "chunked;q=1",
      "\vchunked",
      "chunked\0",
    ].map((value) => [
      `transfer-encoding ${JSON.stringify(value)}`,
      withEncoding(`transfer-encoding: ${value}`),
    ]),
  ),
  "chunked twice": withEncoding("transfer-encoding: chunked\r\ntransfer-encoding: chunked"),
  "gzip and chunked on two lines": withEncoding("transfer-encoding: gzip\r\ntransfer-encoding: chunked"),
  "chunked in HTTP/1.0": withEncoding("transfer-encoding: chunked").replace("HTTP/1.1", "HTTP/1.0"),
};

/** Malformed chunked bodies after a valid head. The client's response must not look complete. */
export const BROKEN_CHUNKS: string[] = [
  "zz\r\n{}\r\n",
  "0x2\r\n{}\r\n",
  "+2\r\n{}\r\n",
  "-2\r\n{}\r\n",
  "2 \r\n{}\r\n",
  "2\n{}\r\n",
  "2;\n{}\r\n",
  "2;a\rb\r\n{}\r\n",
  "2\r\n{}",
  "2\r\n{}\n",
  "2\r\n{}x\n",
  "2\r\n{}poison\r\n",
  "ffffffffffffffffff\r\n{}\r\n",
  "\r\n",
  "2\r\n{}\r\n0\n\n",
  "2\r\n{}\r\n0\r\nx : y\r\n\r\n",
  "2\r\n{}\r\n0\r\ncontent-length: 5\r\n\r\n",
].map((chunks) => `HTTP/1.1 200 OK\r\n${JSON_TYPE}transfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
