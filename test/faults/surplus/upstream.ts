// A program that `run.ts` starts: an upstream that sends a second response after each one, so many microseconds later and in a packet
// of its own. The delay is its argument; without one it sends nothing more. It prints its port, and with each line that it reads how
// many connections were opened since the last.
import { createServer, type AddressInfo, type Socket } from "node:net";
import { createInterface } from "node:readline";

const [argument] = process.argv.slice(2);
const delayUs = argument === undefined ? null : Number(argument);

let connections = 0;
/** What is due, in order. */
const due: { at: number; socket: Socket; text: string }[] = [];

const server = createServer({ noDelay: true }, (socket) => {
  connections += 1;
  let received = "";
  socket.on("error", () => {});
  socket.setEncoding("latin1").on("data", (text: string) => {
    received += text;
    const asked = /\r\n\r\n.*"number":(\d+)\}$/s.exec(received)?.[1];
    if (asked === undefined) return;
    received = "";
    socket.write(respond(`{"own":${asked}}`));
    if (delayUs !== null) sendLater(socket, `{"surplus":${asked}}`, performance.now() + delayUs / 1000);
  });
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));

createInterface(process.stdin).on("line", () => {
  console.log(connections);
  connections = 0;
});

function respond(body: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

function sendLater(socket: Socket, text: string, at: number): void {
  due.push({ at, socket, text });
  if (due.length === 1) setImmediate(sendDue);
}

/** Looks in every turn of the event loop: a timer has no fractions of a millisecond. */
function sendDue(): void {
  for (let next = due[0]; next !== undefined && next.at <= performance.now(); next = due[0]) {
    due.shift();
    if (!next.socket.destroyed) next.socket.write(respond(next.text));
  }
  if (due.length > 0) setImmediate(sendDue);
}
