import { isLive, type Route } from "../../core/http/routes.ts";
import { renderRefusalClose, renderRefusalEvent, type Refusal } from "../../core/refusals/refusal.ts";
import { LiveEvents } from "../../core/usage/gemini/live-events.ts";
import { SocketEvents } from "../../core/usage/socket-events.ts";
import { LiveMessages } from "./live-messages.ts";
import { LiveTurns } from "./live-turns.ts";
import type { RefusalOnSocket, SocketProtocol, TurnsParts } from "./protocol.ts";
import { ResponseMessages } from "./response-messages.ts";
import { Turns } from "./turns.ts";

/** Returns the API of a route. */
export function speak(route: Route, parts: TurnsParts): SocketProtocol {
  if (isLive(route)) {
    const turns = new LiveTurns(parts);
    return {
      turns,
      messages: new LiveMessages(turns),
      events: new LiveEvents(),
      renderRefusal: renderClose,
    };
  }
  const turns = new Turns({ ...parts, onStart: (id, model) => messages.remember(id, model) });
  const messages = new ResponseMessages(turns);
  return { turns, messages, events: new SocketEvents(), renderRefusal: renderEvent };
}

function renderClose(refusal: Refusal, _lane: string, configOption: string): RefusalOnSocket {
  const { status, code, reason } = renderRefusalClose(refusal, configOption);
  return { status, api: "gemini", form: { kind: "close", code, reason } };
}

function renderEvent(refusal: Refusal, lane: string, configOption: string): RefusalOnSocket {
  const { status, text } = renderRefusalEvent(refusal, lane, configOption);
  return { status, api: "responses", form: { kind: "event", text } };
}
