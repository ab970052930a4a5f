import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import type { Socket } from "node:net";
import type { TestContext } from "node:test";
import { createZstd } from "../../src/proxy/exchange/zstd-decoder.ts";
import { startConnectProxy, startRemoteUpstream } from "../helpers/upstream/connect-proxy.ts";
import { listenOnLoopback } from "../helpers/upstream/loopback-port.ts";
import { usageOf } from "../helpers/upstream/websocket-upstream.ts";
import type { VendorRequest } from "./vendors.ts";

/** Where Codex asks with a ChatGPT login, there and at a base URL. All else that it asks gives 404. */
const API = /^\/(?:backend-api\/codex|v1)(?=\/)/;

/** A made-up picture: one pixel, as PNG. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII=";

/** The tokens of each picture. */
export const IMAGE_USAGE = { input: 12, output: 272 };

/** Has a picture made, and says `done` once Codex has it. */
const CODE = 'generatedImage(await tools.image_gen__imagegen({ prompt: "a toll gate" }));';

/** A server in place of chatgpt.com, at which each session makes one picture. */
export interface Chatgpt {
  /** Where it is reached without TLS. */
  origin: string;
  /** Requests for the API, oldest first, their bodies decoded. */
  requests: VendorRequest[];
  /** Its responses, oldest first: ids of responses, and `image`. */
  answered: string[];
  /** Leads a program to it, by a proxy that refuses all other hosts, and makes the program trust it. */
  env: Record<string, string>;
  /** The same for a daemon. */
  outbound: object;
}

/** Starts it. It ends with the test. */
export async function startChatgpt(t: TestContext): Promise<Chatgpt> {
  const requests: VendorRequest[] = [];
  const answered: string[] = [];
  const server = createServer((req, res) => {
    const { method = "", headers } = req;
    const url = (req.url ?? "").replace(API, "");
    void decode(req).then((body) => {
      if (url !== req.url) requests.push({ method, url, headers, body });
      if (method === "POST" && url === "/images/generations") {
        answered.push("image");
        res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(picture()));
        return;
      }
      if (method !== "POST" || url !== "/responses") {
        res.writeHead(404, { "content-type": "application/json" }).end("{}");
        return;
      }
      const id = `resp_${answered.length + 1}`;
      answered.push(id);
      res.writeHead(200, { "content-type": "text/event-stream" });
      for (const event of eventsOf(id, body.toString()))
        res.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
      res.end();
    });
  });
  // The same bodies go by POST then, which can be compared.
  server.on("upgrade", (_req, socket: Socket) => {
    socket.on("error", () => {});
    socket.end("HTTP/1.1 426 Upgrade Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
  });
  const origin = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const remote = await startRemoteUpstream(t, { origin }, ["chatgpt.com"]);
  const proxy = await startConnectProxy(t, {
    to: remote.port,
    respondWith: (head) =>
      head.startsWith("CONNECT chatgpt.com:443 ")
        ? null
        : "HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n",
  });
  const { file } = remote.certificate;
  return {
    origin,
    requests,
    answered,
    env: { HTTPS_PROXY: proxy.url, https_proxy: proxy.url, CODEX_CA_CERTIFICATE: file, SSL_CERT_FILE: file },
    outbound: { httpsProxy: proxy.url, caFile: file },
  };
}

/** Returns what Codex has in `auth.json` after a login with ChatGPT. */
export function madeUpLogin(): string {
  const auth = { chatgpt_plan_type: "pro", chatgpt_account_id: "acct-1", chatgpt_user_id: "user-1" };
  const claims = { email: "me@example.com", exp: 4_102_444_800, "https://api.openai.com/auth": auth };
  const token = [JSON.stringify({ alg: "none" }), JSON.stringify(claims), "signature"]
    .map((part) => Buffer.from(part).toString("base64url"))
    .join(".");
  return JSON.stringify({
    auth_mode: "chatgpt",
    OPENAI_API_KEY: null,
    tokens: { id_token: token, access_token: token, refresh_token: "made-up", account_id: "acct-1" },
    last_refresh: new Date().toISOString(),
  });
}

/** With such a login Codex compresses what it sends. */
function decode(req: IncomingMessage): Promise<Buffer> {
  return buffer(req.headers["content-encoding"] === "zstd" ? req.pipe(createZstd()) : req);
}

function picture(): object {
  const { input, output } = IMAGE_USAGE;
  const details = { input_tokens_details: { text_tokens: input, image_tokens: 0 } };
  return {
    created: 1_700_000_000,
    data: [{ b64_json: PIXEL }],
    usage: { ...usageOf(input, output), ...details },
  };
}

/** Asks for a picture in the way that Codex offers it, and once it has come says `done`. */
function eventsOf(id: string, body: string): { type: string; [member: string]: unknown }[] {
  const call = { call_id: "call_1", status: "completed" };
  const { input } = JSON.parse(body) as { input: { type: string }[] };
  const item = input.some(({ type }) => type.endsWith("call_output"))
    ? {
        type: "message",
        id: `msg_${id}`,
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "done", annotations: [] }],
      }
    : body.includes("image_gen__imagegen")
      ? { type: "custom_tool_call", id: `ctc_${id}`, ...call, name: "exec", input: CODE }
      : {
          type: "function_call",
          id: `fc_${id}`,
          ...call,
          namespace: "image_gen",
          name: "imagegen",
          arguments: JSON.stringify({ prompt: "a toll gate" }),
        };
  const response = { id, object: "response", model: "gpt-5.5", status: "in_progress", output: [] };
  const usage = usageOf(100, 10);
  return [
    { type: "response.created", response },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { ...response, status: "completed", output: [item], usage } },
  ];
}
