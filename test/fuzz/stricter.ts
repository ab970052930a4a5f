/** A point where our response parser refuses what Node's own parser takes (docs/testing.md lists them). */
interface Point {
  /** As in docs/testing.md. */
  what: string;
  /** A response that Node 20 takes whole. */
  example: string;
  /** True for a text that may have been refused because of this. Judged apart from the parser. */
  isIn(text: string): boolean;
}

const PLAIN = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi";
const CHUNKED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n";

/** Header lines of this name, with a value other than this or without one. */
const OTHER_ENCODING = /\ntransfer-encoding:(?! *chunked *\r\n)/i;
const TWO_ENCODINGS = /\ntransfer-encoding:[^]*\ntransfer-encoding:/i;
const OLD_ENCODING = /HTTP\/1\.0 [^]*\ntransfer-encoding:/i;

const PLAIN_EXTENSIONS =
  /^(?:;[^\s;="()<>@,:\\/[\]?{}\u0080-\u00ff]+(?:=[^\s;="()<>@,:\\/[\]?{}\u0080-\u00ff]+)?)+$/;

/** Every point. A response that Node takes and ours refuses for another reason is a finding. */
export const STRICTER: readonly Point[] = [
  {
    what: "a version other than 1.0 and 1.1",
    example: PLAIN.replace("1.1", "2.0"),
    isIn: (text) => /(?:^|\n)HTTP\/(?!1\.[01][ \r])/.test(text),
  },
  {
    what: "a protocol other than HTTP",
    example: PLAIN.replace("HTTP", "RTSP"),
    isIn: (text) => /(?:^|\n)(?:RTSP|ICE)\//.test(text),
  },
  {
    what: "a status below 100 or above 599",
    example: PLAIN.replace("200", "999"),
    isIn: (text) => /(?:^|\n)HTTP\/1\.[01] [06-9][0-9]{2}/.test(text),
  },
  {
    what: "status 101, since no upgrade is asked for",
    example: `HTTP/1.1 101 Switching Protocols\r\n\r\n${PLAIN}`,
    isIn: (text) => /(?:^|\n)HTTP\/1\.[01] 101/.test(text),
  },
  {
    what: "a status line that ends with another line end than CR LF",
    example: PLAIN.replace("OK\r\n", "OK\r\rx-note: a\r\n"),
    isIn: (text) => /(?:^|\n)HTTP\/1\.[01] [0-9]{3}[^\r\n]*(?:\n|\r(?!\n))/.test(text),
  },
  {
    what: "line ends before the status line",
    example: `\r\n${PLAIN}`,
    isIn: (text) => /(?:^|\r\n\r\n)[\r\n]+HTTP\//.test(text),
  },
  {
    what: "a transfer-encoding other than one `chunked` in HTTP/1.1",
    example: CHUNKED.replace("chunked", "gzip, chunked"),
    isIn: (text) => OTHER_ENCODING.test(text) || TWO_ENCODINGS.test(text) || OLD_ENCODING.test(text),
  },
  {
    what: "a content-length with leading zeros",
    example: PLAIN.replace(": 2", ": 02"),
    isIn: (text) => /\ncontent-length: *0[0-9]/i.test(text),
  },
  {
    what: "a tab at the end of a header",
    example: PLAIN.replace("\r\n\r\n", "\r\nx-note: a\t\r\n\r\n"),
    isIn: (text) => /\t *\r\n/.test(text),
  },
  {
    what: "a chunk extension other than names and values, without quotes",
    example: CHUNKED.replace("2\r\n", '2;a="b"\r\n'),
    isIn: (text) =>
      [...text.matchAll(/\n[0-9a-f]+(;[^\r\n]*)/gi)].some(([, list = ""]) => !PLAIN_EXTENSIONS.test(list)),
  },
  {
    what: "a chunk size of more than 13 digits, zeros included",
    example: CHUNKED.replace("2\r\n", `${"2".padStart(14, "0")}\r\n`),
    isIn: (text) => /\n[0-9a-f]{14}/i.test(text),
  },
  {
    what: "a trailer that names a transfer-encoding or a content-length",
    example: CHUNKED.replace("0\r\n", "0\r\ntransfer-encoding: chunked\r\n"),
    isIn: (text) =>
      /\n0+(?:;[^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*(?:content-length|transfer-encoding):/i.test(text),
  },
];
