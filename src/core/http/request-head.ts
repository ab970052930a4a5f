import { getHeaderPolicy } from "./header-policy.ts";

/** As in Node's client: every character that could end a line or is not latin1, except for a tab. */
const INVALID_VALUE = /[^\t\u0020-\u007e\u0080-\u00ff]/;

const INVALID_NAME = /[^!#$%&'*+\-.^_`|~0-9A-Za-z]|^$/;

const INVALID_PATH = /[^\u0021-\u00ff]/;

/** The head of a request to an upstream. */
export interface RequestHead {
  /** With the empty line behind it; latin1. */
  text: string;
  /** True when the body is to be sent in chunks. */
  isChunked: boolean;
  /** True when it asks for another protocol (RFC 9110 section 7.8), so that status 101 is a valid response. */
  isUpgrade: boolean;
}

/**
 * Composes the head of a request. `headers` is `[name, value, name, value, ...]`, and says what the body is; a POST or PATCH without
 * a content-length has a chunked one. With `protocol` it asks to go on in that protocol, and has no body.
 * @throws TypeError when a part contains a character that could turn it into another request
 */
export function composeRequestHead(
  method: string,
  path: string,
  headers: readonly string[],
  protocol: "websocket" | null = null,
): RequestHead {
  if (INVALID_PATH.test(path)) throw new TypeError("the path of a request contains an invalid character");
  let text = `${method} ${path} HTTP/1.1\r\n`;
  let isChunked = method === "POST" || method === "PATCH";
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const [name = "", value = ""] = [headers[i], headers[i + 1]];
    if (INVALID_NAME.test(name) || INVALID_VALUE.test(value))
      throw new TypeError("a header of a request contains an invalid character");
    if (getHeaderPolicy(name).name === "content-length") isChunked = false;
    text += `${name}: ${value}\r\n`;
  }
  if (protocol !== null) text += `Connection: Upgrade\r\nUpgrade: ${protocol}\r\n\r\n`;
  else
    text += isChunked
      ? "Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n"
      : "Connection: keep-alive\r\n\r\n";
  return { text, isChunked, isUpgrade: protocol !== null };
}
