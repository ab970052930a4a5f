import { once } from "node:events";
import { Agent as PlainAgent, request, type IncomingMessage } from "node:http";
import { Agent, request as requestTls } from "node:https";
import { WebSocket } from "ws";
import { RECORDED_REQUESTS } from "../../helpers/tools/recorded-requests.ts";
import { TURNS } from "./session-service.ts";
import type { Kind } from "./sessions.ts";

/**
 * Sessions as the real tools were seen to have them: heads, sizes and connections. Claude Code keeps one connection. Codex opens one for
 * each POST (openai/codex#29369), or one WebSocket.
 */
export const REPLAYED_KINDS: readonly Kind[] = [
  {
    name: "as Claude Code",
    warmups: 0,
    open: (_scope, { cert: ca }) =>
      Promise.resolve(async (origin) => {
        const options = { keepAlive: true, maxSockets: 1, ca };
        const agent = origin.startsWith("https:") ? new Agent(options) : new PlainAgent(options);
        for (let made = 0; made < TURNS; made += 1) {
          const bytes = 87_431 + 5_451 * made;
          const content = [{ type: "tool_result", tool_use_id: `toolu_${made}`, content: "" }];
          const asked = { model: "claude-sonnet-4-6", stream: true, messages: [{ role: "user", content }] };
          await post(`${origin}/v1/messages?beta=true`, headersOf("claude-code"), pad(asked, bytes), {
            agent,
          });
        }
        agent.destroy();
      }),
  },
  {
    name: "as Codex, POST",
    warmups: 0,
    open: (_scope, { cert: ca }) =>
      Promise.resolve(async (origin) => {
        for (let made = 0; made < TURNS; made += 1) {
          const body = pad(responsesTurn(made), 38_705 + 5_964 * made);
          await post(`${origin}/v1/responses`, headersOf("codex"), body, { agent: false, ca });
        }
      }),
  },
  {
    name: "as Codex, WebSocket",
    warmups: 1,
    open: (_scope, { cert: ca }) =>
      Promise.resolve(async (origin) => {
        const socket = new WebSocket(`${origin.replace("http", "ws")}/v1/responses`, {
          headers: headersOf("codex-builtin"),
          ca,
        });
        await once(socket, "open");
        const ask = async (asked: object, bytes: number) => {
          const completed = untilCompleted(socket);
          socket.send(pad({ type: "response.create", ...asked }, bytes));
          await completed;
        };
        await ask({ ...responsesTurn(0), generate: false }, 31_947);
        for (let made = 0; made < TURNS; made += 1) await ask(responsesTurn(made), 15_748);
        const closed = once(socket, "close");
        socket.close();
        await closed;
      }),
  },
];

function responsesTurn(made: number): object {
  const input = [{ type: "function_call_output", call_id: `call_${made}`, output: "" }];
  return { model: "gpt-5.5", stream: true, store: false, input };
}

/** Belong to one connection or one request. */
const LEFT_OUT = /^(?:host|connection|upgrade|content-length|sec-websocket-.*)$/i;

/** The recorded headers of a tool. */
function headersOf(id: string): Record<string, string> {
  const recorded = RECORDED_REQUESTS.find((one) => one.id === id);
  return Object.fromEntries(recorded?.headers.filter(([name]) => !LEFT_OUT.test(name)) ?? []);
}

/** Returns a request of so many bytes. */
function pad(asked: object, bytes: number): string {
  const empty = JSON.stringify({ ...asked, instructions: "" }).length;
  // Words, because what repeats itself would be compressed to nothing.
  const words = Array.from({ length: bytes / 4 }, (_, at) => (at * 7_919).toString(36)).join(" ");
  return JSON.stringify({ ...asked, instructions: words.slice(0, bytes - empty) });
}

/** Sends a request and reads the whole response. */
async function post(
  url: string,
  headers: Record<string, string>,
  body: string,
  options: { agent: PlainAgent | false; ca?: Buffer },
): Promise<void> {
  const send = url.startsWith("https:") ? requestTls : request;
  const length = { "content-length": String(Buffer.byteLength(body)) };
  const req = send(url, { ...options, method: "POST", headers: { ...headers, ...length } });
  req.end(body);
  const [res] = (await once(req, "response")) as [IncomingMessage];
  if (res.statusCode !== 200) throw new Error(`answered ${res.statusCode}`);
  res.resume();
  await once(res, "end");
}

function untilCompleted(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("close", reject);
    socket.on("message", function take(data: Buffer) {
      if (!data.includes('"type":"response.completed"')) return;
      socket.off("message", take).off("close", reject);
      resolve();
    });
  });
}
