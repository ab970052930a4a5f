import { HIDDEN, passes, post, refused, show, type SmugglingCase } from "./case.ts";

const chunked = (body: string) => post("Transfer-Encoding: chunked", body);

const END = "0\r\n\r\n";

/** A malformed chunked body. The case is named after its first bytes. */
function broken(body: string): SmugglingCase {
  return refused(`the chunks ${show(body.slice(0, 40))}`, chunked(body + HIDDEN));
}

export const chunkSizes: SmugglingCase[] = [
  "0x5",
  "+5",
  "-5",
  " 5",
  "5 ",
  "5\t",
  "5\v",
  "\x005",
  "5\0",
  "",
  "g",
  "5g",
  "5,5",
  "5.0",
  "10000000000000005",
  "fffffffffffffffff",
  "\xb2",
  "5 ;x",
  "5;x\0",
  "5;x\ny",
  "5;x\ry",
  "5;\n",
  '5;x="\n"',
  "5;\nxx",
].map((size) => broken(`${size}\r\nhello\r\n${END}`));

export const chunkLines: SmugglingCase[] = [
  `5\nhello\r\n${END}`,
  `5\rhello\r\n${END}`,
  `5\r\r\nhello\r\n${END}`,
  `5\n\r\nhello\r\n${END}`,
  `5\r\nhello\n${END}`,
  `5\r\nhello\r${END}`,
  `5\r\nhello${END}`,
  `5\r\nhello!\r\n${END}`,
  `5\r\nhelloxx${END}`,
  `5\r\nhell\r\n${END}`,
  `5\r\nhello\r\n\r\n${END}`,
  "5\r\nhello\r\n0\n\n",
  "5\r\nhello\r\n0\r\n\n",
  "5\r\nhello\r\n0\n\r\n",
  "5\r\nhello\r\n0\r\r\n",
  "5\r\nhello\r\n0 \r\n\r\n",
  "5\r\nhello\r\n-0\r\n\r\n",
  "5\r\nhello\r\n0\r\n",
  "5\r\nhello\r\n0",
  "5\r\nhello\r\n",
].map((body) => broken(body));

export const sameChunks: SmugglingCase[] = [
  [`05\r\nhello\r\n${END}`, "hello"],
  [`A\r\nhellohello\r\n${END}`, "hellohello"],
  [`5;x\r\nhello\r\n${END}`, "hello"],
  [`5;x=y\r\nhello\r\n${END}`, "hello"],
  [`5;x="y z"\r\nhello\r\n${END}`, "hello"],
  ["5\r\nhello\r\n0;x\r\n\r\n", "hello"],
  ["5\r\nhello\r\n000\r\n\r\n", "hello"],
  [`${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n${END}`, HIDDEN],
  [END, ""],
].map(([body = "", content = ""]) => passes(`the chunks ${show(body.slice(0, 40))}`, chunked(body), content));

const withTrailer = (line: string) => chunked(`5\r\nhello\r\n0\r\n${line}\r\n\r\n`);

export const trailers: SmugglingCase[] = [
  "X: y",
  "Host: hidden.example",
  "Authorization: Bearer hidden",
  "X-Api-Key: hidden",
  "Cookie: hidden=1",
  "Expect: 100-continue",
  "Connection: close",
  "Origin: https://hidden.example",
  "Content-Type: text/plain",
].map((line) => passes(`the trailer ${show(line)}`, withTrailer(line), "hello"));

export const brokenTrailers: SmugglingCase[] = [
  "Content-Length: 5",
  "Transfer-Encoding: chunked",
  "X : y",
  ": y",
  "X",
  "X: a\n b",
  "X: a\rb",
  "X: a\0",
  "X: a\r\n b",
  " X: y",
  "X: y\nX: z",
].map((line) => refused(`the trailer ${show(line)}`, withTrailer(line) + HIDDEN));

export const longChunkLines: SmugglingCase[] = [
  refused("an extension of 100 KB", chunked(`5;${"x".repeat(100_000)}\r\nhello\r\n${END}`), 413),
  refused("trailers of 100 KB", withTrailer(`X: ${"x".repeat(100_000)}`), 431),
];
